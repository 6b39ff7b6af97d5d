"""The steps of docs/guides, as they stand there."""

import shlex
from pathlib import Path
from shutil import copyfile

import pytest

from tests.clients.conftest import lines_of
from tests.support.printing.document_making import document
from tests.support.servers.client_command import Command
from tests.support.servers.queued_jobs import working

DEMO = "http://127.0.0.1:8000"
BATCHES = "docs/guides/batches.md"
GUIDE = "docs/guides/print-ready-pdfs.md"
PHOTOS = Path("stores/demo/templates/photo-postcard-6x9/pictures").resolve()


@pytest.fixture
def command(installed_python, tmp_path, given) -> Command:
    return Command(installed_python, tmp_path / "home", given)


@pytest.mark.slow
def test_guide_of_print_ready_pdfs_checks_and_orders_one(command, python, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good, bare = tmp_path / "leaflet.pdf", tmp_path / "bare.pdf"
    good.write_bytes(document(pages=2, content=b"0 0 0 0.2 k 0 0 2000 2000 re f"))
    bare.write_bytes(document(pages=2, bleed=0))
    line, *_ = lines_of(GUIDE, "sh")
    [program] = lines_of(GUIDE, "python")
    (tmp_path / "order.py").write_text(program.replace(DEMO, given["url"]))

    assert "Nothing found" in command(*shlex.split(line)[1:])
    assert python(tmp_path / "order.py", good) == "Received\n"
    refused = python(tmp_path / "order.py", bare)
    assert refused.startswith("Error 1 ")
    assert "too little bleed" in refused
    assert "Received" not in refused


@pytest.mark.slow
def test_guide_of_batches_checks_corrects_and_orders_a_file(
    installed_python, python, given, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    command = Command(installed_python, tmp_path / "home", given)
    check, order, order_cards = lines_of(BATCHES, "sh")
    [rows, cards, badges], [office] = (lines_of(BATCHES, kind) for kind in ("csv", "json"))
    program, order_badges = lines_of(BATCHES, "python")
    (tmp_path / "people.csv").write_text(rows)
    (tmp_path / "cards.csv").write_text(cards)
    (tmp_path / "office.json").write_text(office)
    (tmp_path / "check.py").write_text(program.replace(DEMO, given["url"]))

    with working("stores.check_batch", "stores.order_batch"):
        with command.start(*shlex.split(check)[1:]) as process:
            shown, _ = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "E-mail" in shown
        assert "1 ready, 1 error" in shown
        part = command(*shlex.split(order)[1:], "--only-ready", "--external-id", "part-1")
        assert "is Ordered: 1 error, 1 ordered" in part
        command(*shlex.split(order)[1:], "--only-ready", "--external-id", "part-1", code=1)
        (tmp_path / "people.csv").write_text(rows.replace("luis.ortega", "luis@acme.example"))
        assert "is Ordered: 2 ordered" in command(*shlex.split(order)[1:])
        # 200 cards by the column, and the 500 of the option for the row without a value.
        assert "is Ordered: 2 ordered; 84.00 USD" in command(*shlex.split(order_cards)[1:])
        who = given["user"]
        seen = python(
            tmp_path / "check.py", who["access_token"], who["subscription_key"], tmp_path / "people.csv"
        )

    assert seen.startswith("Checked 0 ready, 2 in error\n")
    assert "Add a column for Recipient.Name" in seen

    for photo in ("lake.jpg", "shore.jpg"):
        copyfile(PHOTOS / photo, tmp_path / photo)
    (tmp_path / "badges.csv").write_text(badges)
    (tmp_path / "badges.py").write_text(order_badges.replace(DEMO, given["url"]))
    with working("stores.check_batch", "stores.order_batch"):
        assert python(tmp_path / "badges.py", tmp_path / "badges.csv").endswith("\nOrdered\n")
