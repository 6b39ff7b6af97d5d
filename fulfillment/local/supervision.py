"""Supervises child processes, which never outlive this process."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOP_SECONDS = 10
SET_PARENT_DEATH_SIGNAL = 1

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class Stopped(KeyboardInterrupt):
    """Ctrl-C, SIGTERM or SIGHUP arrived. As after Ctrl-C, psycopg ends the running statement."""


def raise_on_stop_signal() -> None:
    """Raise `Stopped` on the first stop signal; ignore further ones, and SIGHUP under nohup."""
    for number in STOP_SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _raise_stopped)


def _raise_stopped(number: int, frame: FrameType | None) -> None:
    for each in STOP_SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped


def end_with_parent() -> None:
    """Ask the kernel for SIGTERM when the process that started this one ends, however it ends."""
    if _libc:
        _libc.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


@dataclass
class ProcessSupervisor:
    """Started children, each leading a session of its own, so that Ctrl-C reaches only their parent."""

    children: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, command: Sequence[str], *, folder: Path, log: Path) -> None:
        """The child's output is added to the log."""
        parent = os.getpid()

        def follow_parent() -> None:
            end_with_parent()
            if os.getppid() != parent:
                os._exit(1)

        with log.open("ab") as output:
            self.children[name] = subprocess.Popen(  # noqa: S603 - the commands are ours
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                preexec_fn=follow_parent,
            )

    def first_ended(self) -> tuple[str, int] | None:
        for name, child in self.children.items():
            if (code := child.poll()) is not None:
                return name, code
        return None

    def stop(self) -> None:
        """End every child and what it started: politely at first, by force after STOP_SECONDS."""
        deadline = time.monotonic() + STOP_SECONDS
        for child in self.children.values():
            child.terminate()
        for child in self.children.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(max(0.1, deadline - time.monotonic()))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        self.children.clear()
