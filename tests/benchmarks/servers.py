"""The service and what it is compared with, each as one Granian worker on a loopback port."""

import contextlib
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from fulfillment.local import supervision
from tests.benchmarks.processes import descendants, resident
from tests.support.granian import granian_command
from tests.support.patience import PATIENCE
from tests.support.ports import free_port

SERVERS = {
    "ours": "fulfillment.wsgi:application",
    "limit": "tests.benchmarks.limit:application",
    "ninja": "tests.benchmarks.peer_ninja:application",
    "peer": "tests.benchmarks.peer:application",
}


@dataclass(frozen=True)
class Server:
    name: str
    port: int
    pid: int
    host: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def pids(self) -> list[int]:
        return [self.pid, *descendants(self.pid)]

    def memory(self) -> float:
        """Resident memory of the server, its workers and what they started, in MB."""
        return sum(map(resident, self.pids))

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
    host: str = "127.0.0.1",
    environment: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
    options: Sequence[str] = (),
    log: IO[bytes] | None = None,
) -> Iterator[Server]:
    """`prefix` starts the command, such as one that enters a network namespace; `log` gets what it writes;
    `options` are more of Granian's."""
    port = port or free_port()
    command = [*prefix, *granian_command(port, host=host, workers=workers, threads=threads)]
    command += [*options, SERVERS[name]]
    process = subprocess.Popen(
        command,
        env=os.environ | {"WEB_THREADS": str(threads)} | (environment or {}),
        stdout=log,
        stderr=log,
        start_new_session=True,
        preexec_fn=supervision.end_with_parent,
    )
    try:
        _wait(host, port, process)
        yield Server(name, port, process.pid, host)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait(host: str, port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("a server of the benchmark did not start")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://{host}:{port}/healthz", timeout=30)
            return
        time.sleep(0.1)
    raise RuntimeError("a server of the benchmark does not answer")
