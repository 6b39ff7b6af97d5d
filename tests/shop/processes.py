"""Processes on loopback that can be killed and started again."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import requests

from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Process:
    command: Sequence[str | Path]
    folder: Path
    environment: Mapping[str, str]
    log: Path
    ready_url: str = ""
    running: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.running = subprocess.Popen(
                [str(word) for word in self.command],
                cwd=self.folder,
                env=dict(self.environment),
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        if self.ready_url:
            wait_until(self.is_ready, f"{self.ready_url} ({self.log})")

    def is_ready(self) -> bool:
        assert self.running is not None
        assert self.running.poll() is None, f"ended by itself:\n{self.log.read_text()[-3000:]}"
        with contextlib.suppress(requests.RequestException):
            return requests.get(self.ready_url, timeout=5).ok
        return False

    def kill(self) -> None:
        """Kill -9 of the process and all that it started."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        if self.running is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.running.pid, how)
        try:
            self.running.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()


@contextlib.contextmanager
def running(process: Process) -> Iterator[Process]:
    try:
        process.start()
        yield process
    finally:
        process.stop()


def wait_until(condition: Callable[[], object], what: str, seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:.0f} s"
        time.sleep(0.2)
