"""Which files the children of a process open for writing, for machines that allow no mounts."""

import contextlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

EVERY_SECONDS = 0.02
PROC = Path("/proc")


@contextlib.contextmanager
def watching() -> Iterator[set[Path]]:
    """Collects what is seen open, until the block ends."""
    seen: set[Path] = set()
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(EVERY_SECONDS):
            for pid in _descendants(os.getpid()):
                seen.update(opened_for_writing(pid))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield seen
    finally:
        ended.set()
        watcher.join()


def opened_for_writing(pid: int) -> Iterator[Path]:
    """Regular files; a process or file that ends meanwhile is left out."""
    with contextlib.suppress(OSError):
        for entry in (PROC / str(pid) / "fd").iterdir():
            with contextlib.suppress(OSError):
                flags = re.search(
                    r"flags:\s*(\d+)", (entry.parent.parent / "fdinfo" / entry.name).read_text()
                )
                if flags and int(flags[1], 8) & os.O_ACCMODE and entry.is_file():
                    yield entry.readlink()


def _descendants(pid: int) -> set[int]:
    parents = {}
    for process in PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parents[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    pids, new = set(), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - pids
        pids |= new
    return pids
