"""What processes cost, as Linux counts it, and their end."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

STOP_SECONDS = 60
TICK = 1 / os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> list[int]:
    """A child belongs to the thread that started it, so every thread is asked."""
    pids = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, listed.read_text().split()):
                pids += [child, *descendants(child)]
    return pids


def processor_seconds(pid: int) -> float:
    """Of the process, those below it, and those that were below it and have ended."""
    return sum(map(_seconds, [pid, *descendants(pid)]))


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Of the process and all of its group; a second signal ends the seconds in which a web process closes its
    connections."""
    deadline = time.monotonic() + STOP_SECONDS
    while process.poll() is None:
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL)
            process.wait(0.2)


def resident(pid: int) -> float:
    """In MB; nothing once it has ended."""
    with contextlib.suppress(OSError, IndexError):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024
    return 0.0


def _seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    # utime, stime, cutime, cstime: fields 14 to 17 of proc_pid_stat(5).
    return sum(map(int, fields[11:15])) * TICK
