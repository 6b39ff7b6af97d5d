"""Runs work of unpredictable memory and time in a process of its own, with limits on both.

A picture of 50 megapixels takes some hundred megabytes, which a web process would keep; a small PDF can unpack to
gigabytes. Starting a process takes a tenth of a second, and what its task loads, so this is for rare or large work.

A task is a function of a module that needs no settings: `task(folder, **options)` reads and writes files of the
folder and returns what JSON can hold.
"""

import fcntl
import json
import logging
import math
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)
MEMORY_BYTES = 2 << 30
# The caller for whom this thread works, so that one cannot fill a queue. Set by the service.
caller: ContextVar[str] = ContextVar("caller", default="")
# Processor time for each second of the limit: it ends a task whose web process was killed and no longer watches it.
PROCESSOR_TIMES = 2
PROJECT = Path(__file__).parents[1]
# A disk with less is full.
ROOM_BYTES = 1 << 20
# A process ends by these when its memory or its stack runs out or its code is broken; by all others it is killed.
OWN_ENDS = frozenset(
    (
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSEGV,
        signal.SIGTRAP,
        signal.SIGXCPU,
    )
)
# Its process holds a lock on this file of a folder; the system releases it with the process, also after SIGKILL.
LOCK = ".in-use"


class TaskFailed(RuntimeError):
    """The task raised an error, or ran out of memory."""


class TaskTimedOut(TaskFailed):
    """The task took longer than its limit and was killed."""


class RendererKilled(RuntimeError):
    """The system killed the process or did not let it start: for want of memory, or by a rule of unit or container."""


class RenderingBusy(RuntimeError):
    """All rendering processes, or the one for large pictures, stayed busy; the same call may succeed later."""


_killed: type[RendererKilled] = RendererKilled
_busy: type[RenderingBusy] = RenderingBusy


def configure(*, killed: type[RendererKilled], busy: type[RenderingBusy]) -> None:
    """Sets the errors raised for these two: a service has its own, which it can render."""
    global _killed, _busy
    _killed, _busy = killed, busy


def busy(message: str = "All renderers are busy. Try again in a few seconds.") -> RenderingBusy:
    return _busy(message)


def killed(reason: str) -> RendererKilled:
    """The error for a process that the system did not let work, logged with its reason."""
    logger.error("A rendering process %s.", reason)
    return _killed(f"The process that does this {reason}. Try again in a few seconds.")


def refuse_killed(code: int | None) -> None:
    """Raises RendererKilled for the return code of a process that the system killed or did not let begin its work."""
    if code == os.EX_OSERR:
        raise killed("was not allowed to limit its memory or its priority")
    if code and shutil.disk_usage(tempfile.gettempdir()).free < ROOM_BYTES:
        raise killed("has no room for temporary files")
    if code is None or code >= 0 or -code in OWN_ENDS:
        return
    # Real-time signals have no name.
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    raise killed(f"was killed by the system ({name})")


@contextmanager
def run_bounded(
    task: str, files: Mapping[str, bytes], *, seconds: float, memory: int = MEMORY_BYTES, **options: Any
) -> Iterator[tuple[Any, Path]]:
    """Runs `package.module:function` and gives its reply and its folder, which is removed afterwards."""
    with ScratchFolder("bounded") as folder:
        for file_name, content in files.items():
            (folder / file_name).write_bytes(content)
        yield _reply(task, folder, seconds, memory, options), folder


def _reply(task: str, folder: Path, seconds: float, memory: int, options: Mapping[str, Any]) -> Any:
    limits = {"memory": memory, "processor": math.ceil(seconds * PROCESSOR_TIMES)}
    request = json.dumps({"task": task, "folder": str(folder), "options": options, **limits})
    try:
        done = subprocess.run(
            [sys.executable, "-m", "printing.bounded_process"],
            input=request.encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
            cwd=PROJECT,
            # One thread: on many cores those of numpy would take more memory than the task may.
            env={"PATH": os.defpath, "PYTHONPATH": str(PROJECT), "OPENBLAS_NUM_THREADS": "1"},
            # A stop signal is for the web process, which finishes its requests first.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired as error:
        raise TaskTimedOut(f"{task} took longer than {seconds:g} seconds.") from error
    except OSError as error:
        raise killed(f"could not be started ({error.strerror})") from error
    refuse_killed(done.returncode)
    if done.returncode == -signal.SIGXCPU:
        raise TaskTimedOut(f"{task} took more processor time than allowed.")
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise TaskFailed(f"{task} ended with {done.returncode}: {last[:300]}")
    return json.loads(done.stdout)


class ScratchFolder:
    """A new folder that only this user can read. Creating one removes abandoned ones of the same kind."""

    def __init__(self, kind: str) -> None:
        remove_abandoned_folders(kind)
        self.path = Path(tempfile.mkdtemp(prefix=f"{kind}-")).resolve()
        draft = self.path / f"{LOCK}.new"
        self._lock = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Only a locked file gets the name: no other process takes a new folder for an abandoned one.
        draft.rename(self.path / LOCK)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_abandoned_folders(kind: str) -> int:
    """Removes this user's folders of the kind whose processes have ended; returns how many there were."""
    folders = Path(tempfile.gettempdir()).glob(f"{kind}-*")
    return sum(_remove_if_abandoned(folder) for folder in folders)


def _remove_if_abandoned(folder: Path) -> bool:
    try:
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            return False
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        shutil.rmtree(folder, ignore_errors=True)
    return True
