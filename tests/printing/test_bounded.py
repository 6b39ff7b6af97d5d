"""Tasks in processes of their own: limits on memory and time, and nothing left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from printing.bounded import (
    PROJECT,
    RendererKilled,
    TaskFailed,
    TaskTimedOut,
    run_bounded,
)
from printing.bounded_process import NICENESS
from printing.typesetting.workers import shared_workers
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.child_memory import ChildMemory

HERE = "tests.printing.test_bounded"


def double(folder: Path, word: str) -> int:
    text = (folder / "given").read_text()
    (folder / "made").write_text(text * 2 + word)
    return len(text)


def fill_memory(folder: Path) -> None:
    bytearray(600 << 20)


def sleep(folder: Path) -> None:
    time.sleep(600)


PARENT_BYTES = 400 << 20


def hold_memory(folder: Path) -> None:
    held = b"x" * (100 << 20)
    time.sleep(0.5)
    del held


def test_measured_memory_is_that_of_the_task_and_not_of_its_parent():
    shared_workers.close()  # renderers of other tests
    larger = b"x" * PARENT_BYTES

    with ChildMemory() as memory, run_bounded(f"{HERE}:hold_memory", {}, seconds=PATIENCE):
        pass

    assert 100 < memory.megabytes < PARENT_BYTES / 1e6
    assert memory.programs == 1
    assert larger


def test_task_reads_and_writes_its_folder_which_is_removed():
    with run_bounded(f"{HERE}:double", {"given": b"ab"}, seconds=PATIENCE, word="!") as (response, folder):
        assert (response, (folder / "made").read_text()) == (2, "abab!")
        assert folder.stat().st_mode & 0o077 == 0
    assert not folder.exists()


def niceness(folder: Path) -> int:
    return os.getpriority(os.PRIO_PROCESS, 0)


def test_task_lets_requests_go_first():
    with run_bounded(f"{HERE}:niceness", {}, seconds=PATIENCE) as (response, _):
        assert response == min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)


def number_of_threads(folder: Path) -> int:
    import numpy as np  # noqa: PLC0415, F401 - in the process of the task

    return len(list(Path("/proc/self/task").iterdir()))


def test_task_takes_no_more_memory_on_a_machine_of_many_cores():
    """Each thread of numpy has its own: with 36 cores it took more than the task may."""
    with run_bounded(f"{HERE}:number_of_threads", {}, seconds=PATIENCE) as (response, _):
        assert response == 1


def never_end(folder: Path, file: str) -> None:
    Path(file).write_text(str(os.getpid()))
    while True:
        pass


def test_task_ends_also_when_the_process_that_watches_it_was_killed(tmp_path):
    """It took a core and its memory for ever."""
    file = tmp_path / "pid"
    code = (
        "import sys; from printing import bounded; bounded.PROCESSOR_TIMES = 2 / 600\n"
        f"with bounded.run_bounded('{HERE}:never_end', {{}}, seconds=600, file=sys.argv[1]): pass"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(file)], cwd=PROJECT) as watching:
        wait_for(lambda: file.exists() and file.read_text())
        watching.kill()

    wait_for(lambda: _has_ended(Path(f"/proc/{file.read_text()}/status")))


def _has_ended(status: Path) -> bool:
    return not status.exists() or "State:\tZ" in status.read_text()


def test_task_that_takes_too_much_memory_fails_alone():
    with (
        pytest.raises(TaskFailed, match="MemoryError"),
        run_bounded(f"{HERE}:fill_memory", {}, seconds=PATIENCE, memory=300 << 20),
    ):
        pass


def test_task_that_takes_too_long_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(TaskTimedOut), run_bounded(f"{HERE}:sleep", {}, seconds=1):
        pass
    assert list(tmp_path.iterdir()) == []


def end_by(folder: Path, number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (signal.SIGKILL, RendererKilled),
        (signal.SIGSYS, RendererKilled),
        (signal.SIGSEGV, TaskFailed),
        (signal.SIGXCPU, TaskTimedOut),
    ],
)
def test_task_killed_from_outside_is_told_from_one_that_fails(number, error):
    with pytest.raises(error), run_bounded(f"{HERE}:end_by", {}, seconds=PATIENCE, number=int(number)):
        pass
