"""Tasks in processes of their own: limits on memory and time, and nothing left behind."""

import os
import tempfile
import time
from pathlib import Path

import pytest

from fulfillment.core.bounded import NICENESS, TaskFailed, TaskTimedOut, run_bounded
from tests.support.patience import PATIENCE

HERE = "tests.fulfillment.core.test_bounded"


def double(folder: Path, word: str) -> int:
    text = (folder / "given").read_text()
    (folder / "made").write_text(text * 2 + word)
    return len(text)


def fill_memory(folder: Path) -> None:
    bytearray(600 << 20)


def sleep(folder: Path) -> None:
    time.sleep(600)


def test_task_reads_and_writes_its_folder_which_is_removed():
    with run_bounded(f"{HERE}:double", {"given": b"ab"}, seconds=PATIENCE, word="!") as (answer, folder):
        assert (answer, (folder / "made").read_text()) == (2, "abab!")
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def niceness(folder: Path) -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def test_task_lets_requests_go_first():
    with run_bounded(f"{HERE}:niceness", {}, seconds=PATIENCE) as (answer, _):
        assert answer == min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)


def test_task_that_takes_too_much_memory_fails_alone():
    with (
        pytest.raises(TaskFailed, match="MemoryError"),
        run_bounded(f"{HERE}:fill_memory", {}, seconds=PATIENCE, memory=300 << 20),
    ):
        pass


def test_task_that_takes_too_long_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    began = time.monotonic()
    with pytest.raises(TaskTimedOut), run_bounded(f"{HERE}:sleep", {}, seconds=1):
        pass
    assert time.monotonic() - began < PATIENCE
    assert list(tmp_path.iterdir()) == []
