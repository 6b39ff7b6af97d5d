"""A stopping web process ends its connections with their answers first."""

import contextlib
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
from tests.support.database.address import address_of
from tests.support.patience import PATIENCE, ROUNDS, wait_for
from tests.support.servers.live_server import ROOT, served_environment, serving
from tests.support.servers.ports import free_port
from tests.support.servers.processes import descendants


def test_process_stopped_while_loading_ends_at_once(tmp_path):
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
            env=served_environment("http://127.0.0.1:1", address_of()),
            stdout=log,
            stderr=log,
            preexec_fn=supervision.end_with_parent,
        )
        try:
            worker = wait_for(lambda: next(iter(descendants(process.pid)), None))
            wait_for(lambda: not catches_sigterm(worker), every=0.005)
            os.kill(worker, signal.SIGTERM)
            # What had loaded would serve on, and not end.
            wait_for(lambda: worker not in descendants(process.pid))
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def catches_sigterm(pid: int) -> bool:
    """With a handler of its own, also one it has from the process it was forked from."""
    (caught,) = re.findall(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text("ascii"), re.MULTILINE)
    return bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


pytestmark = pytest.mark.slow


def test_stopping_process_answers_briefly_and_closes_each_connection(tmp_path):
    # It answers for three seconds: beside other tests one of several rounds must come in time.
    for _ in range(ROUNDS):
        answers = []
        with serving(tmp_path, workers=1) as served, requests.Session() as session:
            before = session.get(f"{served.url}/healthz", timeout=PATIENCE)
            (worker, *_) = descendants(served.process.pid)
            os.kill(worker, signal.SIGTERM)
            time.sleep(0.2)
            with contextlib.suppress(requests.ConnectionError):
                answers += [session.get(f"{served.url}/healthz", timeout=PATIENCE) for _ in range(3)]
            wait_for(lambda worker=worker, served=served: worker not in descendants(served.process.pid))
        assert "close" not in before.headers.get("Connection", "")
        said = [(answer.status_code, answer.headers.get("Connection")) for answer in answers]
        if said == [(200, "close")] * 3:
            break
    assert said == [(200, "close")] * 3
