"""The hot folder: whole, once, over crashes and full disks; reports from what moves and what is written."""

import errno
import os
import time
from pathlib import Path

import pytest

from production.adapters.folder import FolderAdapter
from production.adapters.folder_settings import FolderSettings
from production.adapters.open_folder import OpenFolder
from production.interface import ProviderRefused, ProviderUnavailable
from production.providers.ledger import ProviderLedger
from tests.factories.production import folder_adapter
from tests.support.production.jobs import made_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def places(tmp_path, settings) -> tuple[Path, Path]:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    hot, back = tmp_path / "in", tmp_path / "out"
    hot.mkdir()
    back.mkdir()
    return hot, back


def shown(folder: Path) -> list[str]:
    """What the press sees."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if not path.parts[0].startswith("."))


def test_job_appears_whole_and_once(places):
    job, press = made_job("1001-1"), folder_adapter(places)

    first, second = press.submit(job), press.submit(job)

    assert first.reference == second.reference == "1001-1"
    assert shown(places[0]) == ["1001-1/1001-1.json", "1001-1/1001-1.pdf", "1001-1/1001-1.xjdf"]
    assert b'URL="1001-1.pdf"' in (places[0] / "1001-1" / "1001-1.xjdf").read_bytes()


def test_names_follow_the_pattern_and_leave_no_folder(places):
    press = folder_adapter(places, layout="flat", name_pattern="{sku}_{number}", tickets="json")
    press.submit(made_job("1001-1", sku="../../etc/passwd ü"))

    assert shown(places[0]) == ["etc-passwd-_1001-1.json", "etc-passwd-_1001-1.pdf"]


@pytest.mark.parametrize("pattern", ["{order}", "{number}/{item}", "{number}{who}", "{number"])
def test_patterns_that_are_unsafe_or_not_unique_are_refused(places, pattern):
    values = {"folder": "/srv/in", "name_pattern": pattern}
    assert list(FolderSettings(values).mistakes) == ["name_pattern"]


def test_job_that_was_taken_before_a_crash_does_not_come_again(places, monkeypatch):
    job, press = made_job("1001-1"), folder_adapter(places)

    def crash(self, hot, entry):
        move(self, hot, entry)
        raise SystemExit

    move = FolderAdapter._move
    monkeypatch.setattr(FolderAdapter, "_move", crash)
    with pytest.raises(SystemExit):
        press.submit(job)
    (places[0] / "1001-1").rename(places[1].parent / "press")
    monkeypatch.setattr(FolderAdapter, "_move", move)

    press.submit(job)

    assert shown(places[0]) == []


def test_job_of_a_crash_before_the_rename_is_finished_by_the_next_attempt(places, monkeypatch):
    job, press, move = made_job("1001-1"), folder_adapter(places), FolderAdapter._move
    monkeypatch.setattr(FolderAdapter, "_move", lambda self, *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        press.submit(job)
    assert shown(places[0]) == []
    monkeypatch.setattr(FolderAdapter, "_move", move)

    press.submit(job)

    assert len(shown(places[0])) == 3


def test_full_disk_is_tried_again_and_leaves_nothing(places, monkeypatch):
    press = folder_adapter(places)

    def full(self, name, content):
        raise OSError(errno.ENOSPC, "No space left on device", name)

    monkeypatch.setattr(OpenFolder, "write", full)
    with pytest.raises(ProviderUnavailable, match="the disk is full") as caught:
        press.submit(made_job("1001-1"))

    assert caught.value.is_unsent
    assert list((places[0] / ".fulfillment").glob("new-*")) == []


@pytest.mark.parametrize("moved", [0, 1, 3])
def test_job_may_have_arrived_once_one_of_its_files_was_renamed(places, monkeypatch, moved):
    press, move, left = folder_adapter(places, layout="flat"), OpenFolder.move, [moved]

    def breaks(self, name, target, new_name=""):
        if not left[0]:
            raise OSError(errno.EIO, "Input/output error", name)
        left[0] -= 1
        move(self, name, target, new_name)

    def unsynced(self):
        if self.path == places[0]:
            raise OSError(errno.EIO, "Input/output error", str(self.path))

    monkeypatch.setattr(OpenFolder, "move", breaks)
    monkeypatch.setattr(OpenFolder, "sync", unsynced)
    with pytest.raises(ProviderUnavailable) as caught:
        press.submit(made_job("1001-1"))

    assert caught.value.is_unsent is (moved == 0)
    monkeypatch.undo()
    press.submit(made_job("1001-1"))
    assert len(shown(places[0])) == 3


def test_missing_mount_is_named_and_nothing_was_sent(places, tmp_path):
    press = folder_adapter((tmp_path / "gone", places[1]))
    with pytest.raises(ProviderUnavailable, match="is it mounted") as caught:
        press.check_connection()
    assert caught.value.is_unsent


def test_empty_mount_point_takes_no_job_and_seems_to_have_lost_none(places, tmp_path):
    press, (hot, _) = folder_adapter(places), places
    press.submit(made_job("1001-1"))
    hot.rename(tmp_path / "server")
    hot.mkdir()

    for exchange in (press.poll, press.check_connection, lambda: press.submit(made_job("1002-1"))):
        with pytest.raises(ProviderUnavailable, match="is the folder mounted") as caught:
            exchange()
        assert caught.value.is_unsent
    assert list(hot.iterdir()) == []

    hot.rmdir()
    (tmp_path / "server").rename(hot)
    press.submit(made_job("1002-1"))
    assert press.poll() == []
    assert {name.split("/")[0] for name in shown(hot)} == {"1001-1", "1002-1"}


def test_other_folder_is_used_once_it_was_prepared_by_hand(places, tmp_path):
    folder_adapter(places).submit(made_job("1001-1"))
    other = tmp_path / "other"
    (other / ".fulfillment").mkdir(parents=True)

    folder_adapter((other, places[1])).submit(made_job("1002-1"))

    assert len(shown(other)) == 3


def test_cancelled_job_leaves_the_folder_and_is_never_sent_again(places):
    job, press = made_job("1001-1"), folder_adapter(places)
    press.submit(job)

    press.cancel(job, "1001-1")

    assert shown(places[0]) == []
    with pytest.raises(ProviderRefused, match="cancelled"):
        press.submit(job)


def test_job_that_was_never_written_is_cancelled_for_later_attempts(places):
    job, press = made_job("1001-1"), folder_adapter(places)
    press.cancel(job, "")

    with pytest.raises(ProviderRefused):
        press.submit(job)


def test_taken_job_is_acknowledged_once_and_not_cancelled(places):
    job, press = made_job("1001-1"), folder_adapter(places)
    press.submit(job)
    assert press.poll() == []
    (places[0] / "1001-1").rename(places[1] / "1001-1")

    [report] = press.poll()
    # The press may have refused it before we saw it taken.
    assert (report.job_number, report.state, report.at) == ("1001-1", "Acknowledged", None)
    press.confirm([report])

    assert press.poll() == []
    with pytest.raises(ProviderRefused, match="stop it at the press"):
        press.cancel(job, "1001-1")


def test_job_that_arrives_during_a_poll_does_not_count_as_taken(places, monkeypatch):
    press, waiting = folder_adapter(places), ProviderLedger.waiting
    press.submit(made_job("1001-1"))

    def wait(self):
        monkeypatch.undo()
        press.submit(made_job("1002-1"))
        return waiting(self)

    monkeypatch.setattr(ProviderLedger, "waiting", wait)

    assert press.poll() == []


def test_job_moved_to_a_state_folder_is_in_that_state(places):
    job, press = made_job("1001-1"), folder_adapter(places, taken="none", name_pattern="{order}-{number}")
    press.submit(job)
    (places[1] / "shipped").mkdir()
    (places[0] / "1001-1001-1").rename(places[1] / "shipped" / "1001-1001-1")

    [report] = press.poll()
    press.confirm([report])

    assert (report.job_number, report.state) == ("1001-1", "Shipped")
    assert press.poll() == []


def test_report_files_are_read_once_settled_and_moved_away(places):
    press, back = folder_adapter(places), places[1]
    good, bad, fresh = back / "a.json", back / "b.csv", back / "c.json"
    good.write_text('{"JobNumber": "1001-1", "State": "Shipped", "Carrier": "UPS", "TrackingNumber": "1Z"}')
    bad.write_text("JobNumber,State\n1001-1,Lost\n")
    fresh.write_text("{")
    for path in (good, bad):
        os.utime(path, (time.time() - 10,) * 2)

    [report] = press.poll()
    press.confirm([report])

    assert (report.state, report.tracking_number) == ("Shipped", "1Z")
    assert fresh.exists()
    assert [path.name.split("-", 1)[1] for path in (back / "processed").iterdir()] == ["a.json"]
    reasons = [path.read_text() for path in (back / "unreadable").glob("*.why.txt")]
    assert len(reasons) == 1
    assert "Lost" in reasons[0]


def stop_before_the_rename(press: FolderAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes the files of a job, which the hot folder then does not take."""

    def denied(self, name, target, new_name=""):
        raise PermissionError(errno.EACCES, "Permission denied", name)

    with monkeypatch.context() as patch:
        patch.setattr(OpenFolder, "move", denied)
        with pytest.raises(ProviderUnavailable, match="permission denied"):
            press.submit(made_job("1001-1"))


def test_job_whose_files_were_left_in_another_folder_is_not_taken_for_sent(places, tmp_path, monkeypatch):
    stop_before_the_rename(folder_adapter(places), monkeypatch)
    other = tmp_path / "other"
    (other / ".fulfillment").mkdir(parents=True)
    press = folder_adapter((other, places[1]))

    for _ in range(2):
        with pytest.raises(ValueError, match=r"no longer in .*other/\.fulfillment.*you send it again"):
            press.submit(made_job("1001-1"))
    assert (shown(other), press.poll()) == ([], [])

    press.submit(made_job("1001-1-2"))
    assert len(shown(other)) == 3


def test_job_that_was_taken_before_a_crash_is_not_cancelled(places, monkeypatch):
    job, press, (hot, back) = made_job("1001-1"), folder_adapter(places), places
    monkeypatch.setattr(ProviderLedger, "write", lambda *_: (_ for _ in ()).throw(SystemExit))
    with pytest.raises(SystemExit):
        press.submit(job)
    monkeypatch.undo()
    (hot / "1001-1").rename(back / "1001-1")

    with pytest.raises(ProviderRefused, match="stop it at the press"):
        press.cancel(job, "")


def test_job_that_waits_for_its_rename_is_cancelled(places, monkeypatch):
    press = folder_adapter(places)
    stop_before_the_rename(press, monkeypatch)

    press.cancel(made_job("1001-1"), "")

    assert list((places[0] / ".fulfillment").iterdir()) == []
