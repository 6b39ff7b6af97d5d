"""The service and what it is compared with, each as one Granian worker on a loopback port."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 30
SERVERS = {
    "ours": "fulfillment.wsgi:application",
    "limit": "tests.benchmarks.limit:application",
    "peer": "tests.benchmarks.peer:application",
}


@dataclass(frozen=True)
class Server:
    name: str
    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def memory(self) -> float:
        """Resident memory of the server, its workers and what they started, in MB."""
        pids = [self.pid, *_descendants(self.pid)]
        return sum(_resident(pid) for pid in pids)


@contextlib.contextmanager
def running(name: str, *, threads: int = 4) -> Iterator[Server]:
    port = _free_port()
    command = [sys.executable, "-m", "granian", "--interface", "wsgi", "--no-ws", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--workers", "1", "--blocking-threads", str(threads)]
    command += ["--log-level", "warning", SERVERS[name]]
    process = subprocess.Popen(command, env=os.environ, start_new_session=True)
    try:
        _wait(port, process)
        yield Server(name, port, process.pid)
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=15)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError("a server of the benchmark did not start")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5)
            return
        time.sleep(0.1)
    raise RuntimeError("a server of the benchmark does not answer")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _descendants(pid: int) -> list[int]:
    """A child belongs to the thread that started it, so every thread is asked."""
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listed.read_text().split()):
            found += [child, *_descendants(child)]
    return found


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024
