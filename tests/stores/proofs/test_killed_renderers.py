"""A renderer or reader of files that the system kills: 503 with Retry-After, and no word against file or template."""

import io
import os
import shlex
import signal
import sys

import pytest
from PIL import Image

from delivery.papers.services import add_official_form
from printing.bounded import RendererKilled
from printing.preflight.artwork_facts import read_isolated
from printing.preflight.pictures import facts_of
from printing.press import isolation
from printing.press.colors import read_profile
from printing.press.profiles import SHIPPED
from printing.typesetting.artwork import shrink_picture
from printing.typesetting.workers import Worker, shared_workers
from tests.factories.templates import make_card

STORE = "/store/associated"
KILL = f"""exec {shlex.quote(sys.executable)} -c "import os, signal
signal.pthread_sigmask(signal.SIG_SETMASK, ())
os.kill(os.getpid(), signal.%s)"
"""
ENDS = {"SIGKILL": KILL % "SIGKILL", "SIGSYS": KILL % "SIGSYS", "not allowed": f"exit {os.EX_OSERR}"}


@pytest.fixture(scope="module")
def large_picture():
    """More than a web process decodes itself."""
    content = io.BytesIO()
    Image.new("RGB", (3600, 2500), "teal").save(content, "PNG")
    return content.getvalue()


@pytest.fixture(params=list(ENDS))
def ended_by(request, tmp_path, monkeypatch):
    """Each process that is started ends like this, before it reads anything."""
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{ENDS[request.param]}\n")
    program.chmod(0o755)
    shared_workers.close()
    monkeypatch.setattr(sys, "executable", str(program))
    yield request.param
    # A renderer that ends is replaced at once, by such a process too.
    shared_workers.close()


READERS = {
    "upload": lambda picture: isolation.clean(picture),
    "artwork of a template": lambda picture: isolation.is_readable(picture),
    "background of another shape": lambda picture: isolation.reshape(picture, (3600, 2400), 1.5, crop=True),
    "picture on a screen": lambda picture: shrink_picture(picture, (90, 60)),
    "picture in inks": lambda picture: isolation.separate(picture, SHIPPED, 300),
    "facts of a picture": lambda picture: facts_of(picture),
    "PDF artwork": lambda _: read_isolated(b"%PDF-1.7"),
    "output profile": lambda _: read_profile(SHIPPED.read_bytes()),
    "official form": lambda _: add_official_form(file_name="form.pdf", content=b"%PDF-1.7", by="ada"),
}


@pytest.mark.django_db
@pytest.mark.parametrize("reader", list(READERS))
def test_reader_killed_by_the_system_blames_no_file(reader, ended_by, large_picture, caplog):
    with pytest.raises(RendererKilled) as refused:
        READERS[reader](large_picture)

    assert ended_by in refused.value.message
    assert refused.value.message.endswith("Try again in a few seconds.")
    assert ended_by in caplog.text


def assert_is_answered_503(response, reason):
    assert response.status_code == 503, response.content
    assert response["Retry-After"] == "5"
    assert response.json()["Code"] == "renderer_killed"
    assert reason in response.json()["detail"]
    assert "correct" not in response.json()["detail"]


def test_upload_whose_reader_is_killed_is_answered_503(world, ended_by, large_picture):
    client = world.as_application()

    response = client.post(f"/api/v1{STORE}/asset", large_picture, content_type="image/png")

    assert_is_answered_503(response, ended_by)


@pytest.fixture
def card(world):
    return make_card(world.associated)


def test_proof_whose_renderer_never_begins_is_answered_503(world, card, ended_by):
    response = world.as_application().call("POST", f"{STORE}/product/card/proof", {"Name": "Ada"})

    assert_is_answered_503(response, ended_by)


def test_proof_without_a_process_to_render_it_is_answered_503(world, card, monkeypatch, tmp_path):
    shared_workers.close()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))

    response = world.as_application().call("POST", f"{STORE}/product/card/proof", {"Name": "Ada"})

    assert_is_answered_503(response, "could not be started")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSYS])
def test_proof_whose_renderer_is_killed_meanwhile_is_answered_503(world, card, monkeypatch, number, caplog):
    send = Worker.send

    def send_and_kill(worker, *request):
        worker.process.send_signal(signal.SIGSTOP)
        send(worker, *request)
        worker.process.send_signal(number)
        worker.process.send_signal(signal.SIGCONT)

    monkeypatch.setattr(Worker, "send", send_and_kill)
    response = world.as_application().call("POST", f"{STORE}/product/card/proof", {"Name": "Ada"})

    assert_is_answered_503(response, number.name)
    assert f"killed by the system ({number.name})" in caplog.text
    monkeypatch.undo()
    again = world.as_application().call("POST", f"{STORE}/product/card/proof", {"Name": "Ada"})
    assert again.status_code == 200
