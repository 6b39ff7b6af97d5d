"""The service and what it is compared with, each as one Granian worker on a loopback port."""

import contextlib
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO

from fulfillment.local import supervision
from tests.support.patience import PATIENCE
from tests.support.servers.granian import granian_command
from tests.support.servers.ports import free_port
from tests.support.servers.processes import descendants, end_group, processor_seconds, resident

SERVERS = {
    "ours": "fulfillment.wsgi:application",
    "limit": "tests.benchmarks.limit:application",
    "peer": "tests.benchmarks.peer.wsgi:application",
}


@dataclass(frozen=True)
class Server:
    name: str
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pids(self) -> list[int]:
        return [self.pid, *descendants(self.pid)]

    def memory(self) -> float:
        """Resident memory of the server, its workers and what they started, in MB."""
        return sum(map(resident, self.pids))

    def wait_until_idle(self) -> None:
        """A slow server still works on what wrk no longer waits for; the next load is not to pay for it."""
        deadline, before = time.monotonic() + 5, -1.0
        while time.monotonic() < deadline and (now := processor_seconds(self.pid)) > before:
            before = now
            time.sleep(0.05)

    def worker_memory(self) -> float:
        """Of the largest of its processes: a worker."""
        return max(map(resident, self.pids))


@contextlib.contextmanager
def running(
    name: str,
    *,
    threads: int = 8,
    workers: int = 1,
    port: int = 0,
    environment: Mapping[str, str] | None = None,
    log: IO[bytes] | None = None,
) -> Iterator[Server]:
    """`log` gets what it writes."""
    port = port or free_port()
    command = [*granian_command(port, workers=workers, threads=threads), SERVERS[name]]
    process = subprocess.Popen(
        command,
        env=os.environ | {"WEB_THREADS": str(threads)} | (environment or {}),
        stdout=log,
        stderr=log,
        start_new_session=True,
        preexec_fn=supervision.end_with_parent,
    )
    try:
        _wait(port, process)
        yield Server(name, port, process.pid)
    finally:
        end_group(process)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("a server of the benchmark did not start")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=30)
            return
        time.sleep(0.1)
    raise RuntimeError("a server of the benchmark does not answer")
