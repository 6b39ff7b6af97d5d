"""A web process that is told to stop ends its connections with their answers first."""

import os
import signal
import time

import pytest
import requests

from tests.benchmarks.processes import descendants
from tests.support.live_server import serving

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
