"""A web process that is told to stop ends its connections with their answers first."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from fulfillment.local import supervision
from tests.benchmarks.processes import descendants
from tests.support.live_server import ROOT, database_url, free_port, served_environment, serving


def test_a_process_told_to_stop_while_it_loads_ends_at_once(tmp_path):
    """As happens to the second reload in a row, and to a stop right after a reload."""
    command = [
        sys.executable,
        "-m",
        "granian",
        "--interface",
        "wsgi",
        "--workers",
        "1",
        "--port",
        str(free_port()),
    ]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "fulfillment.wsgi:application"],
            cwd=ROOT,
            env=served_environment("http://127.0.0.1:1", database_url()),
            stdout=log,
            stderr=log,
            preexec_fn=supervision.end_with_parent,
        )
        try:
            worker = wait_for(lambda: next(iter(descendants(process.pid)), None), seconds=30)
            wait_for(lambda: not catches_sigterm(worker), seconds=30)
            os.kill(worker, signal.SIGTERM)
            wait_for(lambda: worker not in descendants(process.pid), seconds=5)
        finally:
            process.terminate()
            process.wait(timeout=60)


def catches_sigterm(pid: int) -> bool:
    """With a handler of its own, also one it has from the process it was forked from."""
    (caught,) = re.findall(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text("ascii"), re.MULTILINE)
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


def wait_for(condition, *, seconds):
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return found


pytestmark = pytest.mark.slow


def test_a_process_told_to_stop_answers_for_a_moment_and_closes_each_connection(tmp_path):
    with serving(tmp_path, workers=1) as served, requests.Session() as session:
        before = session.get(f"{served.url}/healthz", timeout=10)
        (worker, *_) = descendants(served.process.pid)
        os.kill(worker, signal.SIGTERM)
        time.sleep(0.2)
        answers = [session.get(f"{served.url}/healthz", timeout=10) for _ in range(3)]
        deadline = time.monotonic() + 15
        while worker in descendants(served.process.pid):
            assert time.monotonic() < deadline
            time.sleep(0.1)

    assert "close" not in before.headers.get("Connection", "")
    assert [(one.status_code, one.headers["Connection"]) for one in answers] == [(200, "close")] * 3
