"""Against a real SFTP server on a loopback port."""

import asyncio
import errno
import hashlib
import itertools
import os
import shutil
import socket
from dataclasses import replace
from ipaddress import ip_network

import asyncssh
import pytest

from production.adapters import sftp, sftp_returns
from production.adapters.sftp import SftpAdapter, SftpSettings
from production.interface import ProviderRefused, ProviderUnavailable
from tests.support.production.jobs import made_job
from tests.support.production.sftp_server import (
    PASSWORD,
    at_count,
    cut,
    cut_before,
    once,
    running_sftp_server,
)

SECRETS = {"password": PASSWORD}
JOB_FILES = ["1001-1/1001-1.json", "1001-1/1001-1.pdf", "1001-1/1001-1.xjdf"]


@pytest.fixture
def press(tmp_path, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    with running_sftp_server(tmp_path) as server:
        yield server


def _adapter(press, secrets=SECRETS, **changes):
    return SftpAdapter(SftpSettings(press.settings(**changes)).read(), secrets, settle=0)


def _job(number="1001-1", **changes):
    return made_job(number, **changes)


def test_job_arrives_whole_with_its_tickets(press):
    sent = _adapter(press).submit(_job())
    assert press.names() == JOB_FILES
    assert (press.root / "in/1001-1/1001-1.pdf").read_bytes() == _job().files[0].content
    assert sent.reference == "127.0.0.1:/in/1001-1"
    assert sent.exchange.response == "Renamed into /in/1001-1."
    assert sent.exchange.digests["1001-1.pdf"] == _job().files[0].sha256
    preview = _adapter(press).preview(_job())
    assert sorted(preview) == [f"/in/{name}" for name in JOB_FILES]
    assert 'JobID="1001-1"' in preview["/in/1001-1/1001-1.xjdf"]


def test_flat_folder_gets_tickets_after_print_files(press):
    _adapter(press, layout="flat").submit(_job())
    assert press.names() == ["1001-1.json", "1001-1.pdf", "1001-1.xjdf"]
    renamed = [path for name, path in press.operations if name == "posix_rename"]
    assert renamed == ["/in/1001-1.pdf", "/in/1001-1.xjdf", "/in/1001-1.json"]


@pytest.mark.parametrize("has_posix_rename", [True, False])
def test_job_that_the_press_has_taken_is_not_sent_twice(press, has_posix_rename):
    press.has_posix_rename = has_posix_rename
    _adapter(press).submit(_job())
    shutil.rmtree(press.root / "in/1001-1")
    again = _adapter(press).submit(_job())
    assert press.names() == []
    assert again.exchange.response == "The server already had this job. Nothing was sent again."


@pytest.mark.parametrize("layout", ["job_folder", "flat"])
def test_connection_cut_after_the_rename_gives_one_job(press, layout):
    press.fault_after = once("posix_rename", cut)
    with pytest.raises(ProviderUnavailable) as caught:
        _adapter(press, layout=layout).submit(_job())
    assert caught.value.is_unsent is False
    taken = press.names()
    for name in taken:
        (press.root / "in" / name).unlink()
    _adapter(press, layout=layout).submit(_job())
    expected = JOB_FILES if layout == "job_folder" else ["1001-1.json", "1001-1.pdf", "1001-1.xjdf"]
    assert sorted(taken + press.names()) == expected


@pytest.mark.parametrize("operation", ["mkdir", "open", "write", "posix_rename"])
def test_connection_cut_before_an_operation_loses_nothing(press, operation):
    press.fault = once(operation, cut_before)
    with pytest.raises(ProviderUnavailable) as caught:
        _adapter(press).submit(_job())
    assert press.names() == []
    assert caught.value.is_unsent is (operation != "posix_rename")
    _adapter(press).submit(_job())
    assert press.names() == JOB_FILES


def test_full_disk_is_tried_again_and_leaves_no_half_job(press):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    press.fault = once("write", full)
    with pytest.raises(ProviderUnavailable, match="No space left on device") as caught:
        _adapter(press).submit(_job())
    assert caught.value.is_unsent is True
    assert press.names() == []
    _adapter(press).submit(_job())
    assert press.names() == JOB_FILES


@pytest.mark.parametrize(
    ("changes", "secrets", "message"),
    [
        ({"host_key": "SHA256:" + "A" * 43}, SECRETS, "which is not a pinned one"),
        ({}, {"password": "wrong"}, "does not accept the user press with this key or password"),
        ({}, {}, "neither a password nor a private key"),
        ({}, {"private_key": "-----BEGIN PRIVATE KEY-----"}, "private key cannot be read"),
        ({"folder": "/nowhere"}, SECRETS, "The folder /nowhere does not exist"),
        ({"host": "10.1.2.3"}, SECRETS, "not an address of the public Internet"),
    ],
)
def test_permanent_failure_is_refused(press, changes, secrets, message):
    with pytest.raises(ProviderRefused, match=message) as caught:
        _adapter(press, secrets, **changes).submit(_job())
    assert PASSWORD not in str(caught.value)
    assert press.names() == []


def test_wrong_host_key_is_found_before_the_password_is_sent(press):
    seen = []
    press.fault = lambda *given: seen.append(given)
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    with pytest.raises(ProviderRefused, match=press.fingerprint.replace("+", r"\+")):
        _adapter(press, host_key=other).check_connection()
    assert seen == []


def test_server_that_is_gone_is_unavailable_and_unsent(press):
    with pytest.raises(ProviderUnavailable) as caught:
        _adapter(press, port=1).submit(_job())
    assert caught.value.is_unsent is True


@pytest.mark.parametrize("pinned", ["line", "known_hosts", "two"])
def test_key_and_key_line_open_the_connection(press, pinned):
    line = press.host_key.export_public_key().decode().strip()
    text = {"line": line, "known_hosts": f"sftp.example.com {line}", "two": f"SHA256:{'A' * 43}\n{line}"}[
        pinned
    ]
    key = press.client_key.export_private_key("pkcs8-pem", passphrase="tall ship").decode()
    adapter = _adapter(press, {"private_key": key, "key_passphrase": "tall ship"}, host_key=text)
    assert adapter.check_connection() == "Connected to 127.0.0.1; /in can be written to, /out can be read."


@pytest.mark.parametrize("layout", ["job_folder", "flat"])
def test_cancelling_takes_back_what_the_press_has_not_taken(press, layout):
    adapter = _adapter(press, layout=layout)
    reference = adapter.submit(_job()).reference
    # As for a cancellation, which needs the names of the files alone.
    [file] = _job().files
    empty = replace(file, content=b"", sha256=hashlib.sha256(b"").hexdigest())
    for _ in range(2):
        moved = adapter.cancel(_job(files=[empty]), reference)
        assert moved.response == "Moved to /in/.store-fulfillment/cancelled/1001-1."
    assert press.names() == []
    with pytest.raises(ProviderRefused, match="was cancelled at this server before"):
        adapter.submit(_job())
    assert adapter.cancel(_job("1001-2"), "").response == "The job was not sent."
    with pytest.raises(ProviderRefused, match="was cancelled"):
        adapter.submit(_job("1001-2"))


@pytest.mark.parametrize("layout", ["job_folder", "flat"])
def test_cancelling_is_refused_once_the_press_has_begun(press, layout):
    adapter = _adapter(press, layout=layout)
    reference = adapter.submit(_job()).reference
    next((press.root / "in").rglob("1001-1.pdf")).unlink()
    if layout == "job_folder":
        shutil.rmtree(press.root / "in/1001-1")
    with pytest.raises(ProviderRefused, match="The press has taken"):
        adapter.cancel(_job(), reference)
    assert len(press.names()) == (2 if layout == "flat" else 0)
    assert "Nothing was sent again" in adapter.submit(_job()).exchange.response


def test_tickets_come_back_if_the_press_begins_while_a_cancellation_is_repeated(press):
    adapter = _adapter(press, layout="flat")
    adapter.submit(_job())
    press.fault_after = at_count("posix_rename", 2, cut)
    with pytest.raises(ProviderUnavailable):
        adapter.cancel(_job(), "")
    assert press.names() == ["1001-1.pdf"]
    (press.root / "in/1001-1.pdf").unlink()
    with pytest.raises(ProviderRefused, match="The press has taken"):
        adapter.cancel(_job(), "")
    assert press.names() == ["1001-1.json", "1001-1.xjdf"]


def test_reports_are_read_once_and_moved_when_stored(press):
    out = press.root / "out"
    (out / "day.csv").write_text("JobNumber,State\n1001-1,Shipped\n1001-2,Shipped\n")
    (out / "1001-3.pdf").write_bytes(b"%PDF")
    (out / "none.csv").write_text("JobNumber,State\n")
    (out / "half.csv.part").write_text("JobNumber,Sta")
    (out / "bad.json").write_text('{"JobNumber": "1001-4", "State": "Gone"}')
    adapter = _adapter(press)
    reports = adapter.poll()
    assert sorted((report.job_number, report.state) for report in reports) == [
        ("1001-1", "Shipped"),
        ("1001-2", "Shipped"),
        ("1001-3", "Acknowledged"),
    ]
    adapter.confirm([report for report in reports if report.job_number != "1001-2"])
    assert (out / "day.csv").exists()
    assert not (out / "1001-3.pdf").exists()
    _adapter(press).confirm(reports)
    assert _adapter(press).poll() == []
    kept = sorted(path.name for path in (out / "read").rglob("*") if path.is_file())
    assert kept == ["1001-3.pdf", "day.csv", "none.csv"]
    assert "State is “Gone”" in (out / "rejected/bad.json.error.txt").read_text("utf-8")
    assert (out / "rejected/bad.json").exists()


def test_unreadable_report_with_the_longest_name_delays_no_others(press):
    out = press.root / "out"
    name = "a" * 250 + ".json"
    (out / name).write_text("{}")
    (out / "good.csv").write_text("JobNumber,State\n1001-1,Shipped\n")

    assert [report.job_number for report in _adapter(press).poll()] == ["1001-1"]
    assert not (out / name).exists()
    assert len(list((out / "rejected").iterdir())) == 2


def test_file_that_is_gone_before_it_is_read_delays_no_others(press):
    for name in ("gone", "there"):
        (press.root / f"out/{name}.csv").write_text(f"JobNumber,State\n{name},Shipped\n")

    def take(operation, path, channel):
        if operation == "open" and path.endswith("gone.csv"):
            (press.root / "out/gone.csv").unlink(missing_ok=True)

    press.fault = take

    assert [report.job_number for report in _adapter(press).poll()] == ["there"]


def test_folders_that_belong_to_no_job_hold_up_no_others(press, monkeypatch):
    server_order = asyncssh.SFTPServer.scandir

    async def foreign_first(server, path):
        found = [entry async for entry in server_order(server, path)]
        for one in sorted(found, key=lambda one: one.filename, reverse=True):
            yield one

    monkeypatch.setattr(asyncssh.SFTPServer, "scandir", foreign_first)
    monkeypatch.setattr(sftp_returns, "MAX_FOLDERS", 2)
    out = press.root / "out"
    for number in range(6):
        (out / f"2026-07-{number:02}").mkdir()
    (out / "1001-1.csv").write_text("JobNumber,State\n1001-1,Shipped\n")
    shutil.copytree(out / "2026-07-01", out / "1001-2")
    (out / "1001-2/1001-2.pdf").write_bytes(b"%PDF")

    polls = [{report.job_number for report in _adapter(press).poll()} for _ in range(60)]

    assert all("1001-1" in found for found in polls)
    assert any("1001-2" in found for found in polls)


def test_report_whose_name_is_not_utf8_delays_no_others(press):
    """As a press on Windows writes a name with an umlaut."""
    out = press.root / "out"
    (out / os.fsdecode(b"M\xfcller.csv")).write_text("JobNumber,State\n1001-2,Shipped\n")
    (out / "good.csv").write_text("JobNumber,State\n1001-1,Shipped\n")

    assert [report.job_number for report in _adapter(press).poll()] == ["1001-1"]
    assert sorted(path.name for path in (out / "rejected").iterdir()) == ["Mller.csv", "Mller.csv.error.txt"]
    assert "is not UTF-8" in (out / "rejected/Mller.csv.error.txt").read_text("utf-8")


def test_connection_cut_while_reports_are_read_keeps_what_was_read(press):
    for number in range(6):
        (press.root / f"out/{number}.csv").write_text(f"JobNumber,State\n1001-{number},Shipped\n")
    press.fault = at_count("open", 4, cut_before)
    adapter = _adapter(press)
    reports = adapter.poll()
    assert len(reports) == 3
    press.fault = at_count("rename", 3, cut_before)
    adapter.confirm(reports)
    assert len(list((press.root / "out/read").rglob("*.csv"))) == 2
    press.fault = None
    assert len(_adapter(press).poll()) == 4
    press.fault = at_count("open", 1, cut_before)
    with pytest.raises(ProviderUnavailable):
        _adapter(press).poll()


def test_file_that_may_still_be_written_to_is_left_for_later(press):
    (press.root / "out/day.csv").write_text("JobNumber,State\n1001-1,Shipped\n")
    assert SftpAdapter(SftpSettings(press.settings()).read(), SECRETS).poll() == []


def test_settings_name_each_mistake():
    values = {
        "host": "sftp://x/y",
        "host_key": "mine",
        "username": "a",
        "folder": "/../etc",
        "private_key": "x",
    }
    assert sorted(SftpSettings(values).mistakes) == ["folder", "host", "host_key", "private_key"]


@pytest.mark.parametrize("call", [SftpAdapter.poll, SftpAdapter.check_connection])
def test_poll_and_check_have_a_deadline_of_their_own(press, monkeypatch, call):
    """Against a server that says nothing; the settings would let it hold a job for half an hour."""
    monkeypatch.setattr(sftp, "POLL_SECONDS", 0.2)
    limits: list[float] = []
    timeout = asyncio.timeout
    monkeypatch.setattr(asyncio, "timeout", lambda seconds: limits.append(seconds) or timeout(seconds))

    with socket.create_server(("127.0.0.1", 0)) as silent:
        slow = _adapter(press, port=silent.getsockname()[1], time_limit=1800)
        with pytest.raises(ProviderUnavailable, match="did not finish in time"):
            call(slow)

    assert limits[0] == 0.2


def test_folder_with_names_without_end_fills_no_memory(press, monkeypatch):
    async def endless(_, path):
        for number in itertools.count():
            name = f"name-{number}".encode()
            yield asyncssh.SFTPName(name, name, asyncssh.SFTPAttrs(permissions=0o100644))

    (press.root / "in/.store-fulfillment/staging/1001-1").mkdir(parents=True)
    monkeypatch.setattr(asyncssh.SFTPServer, "scandir", endless)

    assert _adapter(press).check_connection().startswith("Connected")
    with pytest.raises(ProviderRefused, match="more than 1,000 files"):
        _adapter(press).submit(_job())


def test_leftovers_of_an_earlier_try_are_replaced(press):
    staging = press.root / "in/.store-fulfillment/staging/1001-1"
    staging.mkdir(parents=True)
    (staging / "half.pdf").write_bytes(b"%PDF")
    _adapter(press).submit(_job())
    assert press.names() == JOB_FILES


def test_packets_of_the_server_are_not_unpacked(tmp_path, settings, monkeypatch):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    monkeypatch.setattr(asyncssh.connection, "get_default_compression_algs", lambda: [b"zlib@openssh.com"])
    with running_sftp_server(tmp_path) as press, pytest.raises(ProviderUnavailable):
        _adapter(press).check_connection()


def test_server_chooses_no_prime_for_the_key_exchange(tmp_path, settings):
    settings.WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
    only = {"kex_algs": ["diffie-hellman-group-exchange-sha256"]}
    # The server may notice first that no method is left, and close.
    refused = pytest.raises(ProviderUnavailable, match=r"key exch|Connection lost")
    with running_sftp_server(tmp_path, **only) as press, refused:
        _adapter(press).check_connection()


def test_one_poll_holds_few_more_reports_than_a_file_may_have(press, monkeypatch):
    monkeypatch.setattr(sftp_returns, "MAX_REPORTS", 3)
    for name in "abc":
        path = press.root / "out" / f"{name}.csv"
        path.write_text(f"JobNumber,State\n{name}-1,Shipped\n{name}-2,Shipped\n")
    assert len(_adapter(press).poll()) == 4
