"""How much memory the programs that this process starts have had at most.

`getrusage` does not know: a child counts as large as its parent until its program starts, and keeps that figure.
"""

import os
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType

PROGRAMS = (b"printing.bounded_process", b"printing.typesetting.worker")
SECONDS = 0.01


class ChildMemory:
    """Looks at the children of all threads; what one had is known until the last look before its end."""

    def __init__(self) -> None:
        self.megabytes = 0.0
        self.programs = 0
        self._seen: set[int] = set()
        self._ended = threading.Event()
        self._watching = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "ChildMemory":
        self._watching.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._watching.join()

    def _watch(self) -> None:
        while not self._ended.wait(SECONDS):
            for tasks in Path(f"/proc/{os.getpid()}/task").iterdir():
                with suppress(OSError, ValueError):
                    for pid in map(int, (tasks / "children").read_bytes().split()):
                        self._look(pid)

    def _look(self, pid: int) -> None:
        """The command first: before its program starts a child has the memory of its parent."""
        with suppress(OSError, IndexError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            if any(program in command for program in PROGRAMS):
                status = Path(f"/proc/{pid}/status").read_bytes()
                peak = int(status.partition(b"VmHWM:")[2].split(maxsplit=1)[0]) * 1024 / 1e6
                self.megabytes = max(self.megabytes, peak)
                self._seen.add(pid)
                self.programs = len(self._seen)
