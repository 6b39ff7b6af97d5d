"""Who may write to a hot folder is not thereby let into the rest of the machine."""

import json
import os
import socket
import time
from pathlib import Path

import pytest

from production.adapters import folder_returns
from production.interface import ProviderRefused, Report
from tests.factories.production import folder_adapter
from tests.support.production.jobs import made_job

pytestmark = pytest.mark.django_db

OLD = time.time() - 60


@pytest.fixture
def places(tmp_path, settings) -> tuple[Path, Path]:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    hot, back = tmp_path / "press" / "in", tmp_path / "press" / "out"
    hot.mkdir(parents=True)
    back.mkdir()
    return hot, back


@pytest.fixture
def private(tmp_path) -> Path:
    """A folder of the service that the press has no access to."""
    folder = tmp_path / "media"
    folder.mkdir()
    (folder / "print.pdf").write_bytes(b"of another customer")
    return folder


def put(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    os.utime(path, (OLD, OLD), follow_symlinks=False)
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"work": "../../../media", "names": ["print.pdf"]},
        {"work": "{private}", "names": ["print.pdf"]},
        {"names": ["../../../media/print.pdf"]},
        {"names": [".."]},
        {"names": "abc"},
        {"state": "odd"},
        {"work": None},
        {"work": "", "state": "done"},
        {"names": [], "state": "done"},
        {"marks": 3},
    ],
)
def test_changed_ledger_moves_and_removes_nothing_elsewhere(places, private, change):
    ledger = places[0] / ".fulfillment" / "jobs"
    ledger.mkdir(parents=True)
    change = {key: str(private) if value == "{private}" else value for key, value in change.items()}
    plain = {"state": "prepared", "work": f"new-{'0' * 32}", "names": ["1001-1"], "digests": {}, "marks": []}
    text = json.dumps({**plain, **change}).replace("{private}", str(private))
    (ledger / "1001-1.json").write_text(text)

    for act in (
        lambda adapter: adapter.submit(made_job("1001-1")),
        lambda adapter: adapter.cancel(made_job("1001-1"), ""),
    ):
        with pytest.raises(ValueError, match="ledger"):
            act(folder_adapter(places))

    assert (private / "print.pdf").read_bytes() == b"of another customer"
    assert [path.name for path in places[0].iterdir()] == [".fulfillment"]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b" " * 100_000])
def test_damaged_ledger_is_reported(places, content):
    ledger = places[0] / ".fulfillment" / "jobs"
    ledger.mkdir(parents=True)
    (ledger / "1001-1.json").write_bytes(content)

    with pytest.raises(ValueError, match="ledger"):
        folder_adapter(places).submit(made_job("1001-1"))


def test_work_folder_that_became_a_link_is_not_followed(places, private):
    ledger = places[0] / ".fulfillment" / "jobs"
    ledger.mkdir(parents=True)
    work = f"new-{'0' * 32}"
    (places[0] / ".fulfillment" / work).symlink_to(private)
    entry = {"state": "prepared", "work": work, "names": ["print.pdf"], "digests": {}, "marks": []}
    (ledger / "1001-1.json").write_text(json.dumps(entry))

    with pytest.raises(ProviderRefused, match="link"):
        folder_adapter(places).submit(made_job("1001-1"))

    assert (private / "print.pdf").exists()


def test_links_in_the_return_folder_are_not_read(places, private):
    secret = put(private, "secret.csv", b"password\nhunter2\n")
    (places[1] / "report.csv").symlink_to(secret)
    os.utime(places[1] / "report.csv", (OLD, OLD), follow_symlinks=False)

    assert folder_adapter(places).poll() == []
    reasons = [path.read_text() for path in places[1].rglob("*.why.txt")]
    assert len(reasons) == 1
    assert "link" in reasons[0]
    assert not any("password" in text or "hunter2" in text for text in reasons)
    assert secret.exists()


def test_reports_are_not_put_away_through_a_link(places, private):
    put(places[1], "bad.csv", b"nonsense")
    (places[1] / "unreadable").symlink_to(private)

    with pytest.raises(Exception, match="link"):
        folder_adapter(places).poll()

    assert [path.name for path in private.iterdir()] == ["print.pdf"]


@pytest.mark.parametrize("name", [b"two\nlines.csv", b"not-utf8-\xff.csv", b"esc\x1b[31m.json"])
def test_report_files_with_malformed_names_delay_no_others(places, name):
    row = b"JobNumber,State\n1001-1,Shipped\n"
    put(places[1], os.fsdecode(name), row)
    put(places[1], "good.csv", row)
    press = folder_adapter(places)

    reports: list[Report] = list(press.poll())
    press.confirm(reports)

    assert [report.job_number for report in reports] == ["1001-1"]
    assert list(press.poll()) == []
    assert len(list((places[1] / "unreadable").glob("*.why.txt"))) == 1


def test_named_pipe_in_the_return_folder_holds_nothing_up(places):
    os.mkfifo(places[1] / "report.csv")
    os.utime(places[1] / "report.csv", (OLD, OLD))

    assert folder_adapter(places).poll() == []


@pytest.mark.parametrize("content", [b"nonsense", b"JobNumber,State\n1001-2,Shipped\n", b"JobNumber,State\n"])
@pytest.mark.parametrize("letter", ["a", "\u00e9"])
def test_report_files_with_the_longest_names_delay_no_others(places, content, letter):
    name = letter * (251 // len(letter.encode())) + ".csv"
    put(places[1], name, content)
    put(places[1], "zz.csv", b"JobNumber,State\n1001-1,Shipped\n")
    press = folder_adapter(places)

    reports: list[Report] = list(press.poll())
    press.confirm(reports)

    assert "1001-1" in [report.job_number for report in reports]
    assert not (places[1] / name).exists()
    assert list(press.poll()) == []


def test_socket_in_the_return_folder_delays_no_others(places, monkeypatch):
    monkeypatch.chdir(places[1])
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("a.csv")
    os.utime("a.csv", (OLD, OLD))
    put(places[1], "good.csv", b"JobNumber,State\n1001-1,Shipped\n")

    assert [report.job_number for report in folder_adapter(places).poll()] == ["1001-1"]


def test_one_poll_holds_few_more_reports_than_a_file_may_have(places, monkeypatch):
    monkeypatch.setattr(folder_returns, "MAX_REPORTS", 3)
    for name in "abc":
        put(places[1], f"{name}.csv", f"JobNumber,State\n{name}-1,Shipped\n{name}-2,Shipped\n".encode())

    assert len(folder_adapter(places).poll()) == 4
