"""PostgreSQL is restarted under a worker and a web process: both are well again at once and by themselves."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.postgres_server import ROOT, Restarted, own_postgres

FRESH_SECONDS = 10
HEARTBEATS = "SELECT extract(epoch FROM now() - last_heartbeat) FROM procrastinate_workers"


@pytest.fixture(scope="module")
def database() -> Iterator[Restarted]:
    with own_postgres() as server:
        server.manage("migrate", "--verbosity=0")
        yield server


@contextmanager
def idle_worker(database: Restarted, output: Path) -> Iterator[subprocess.Popen[bytes]]:
    database.rows("TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE")
    with output.open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "manage.py", "worker"],
            cwd=ROOT,
            env=database.environment(),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        wait_for_heartbeat(database, since=0, seconds=30)
        yield worker
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def wait_for_heartbeat(database: Restarted, *, since: float, seconds: float = FRESH_SECONDS) -> None:
    """One that was written after the moment `since` of this machine's monotonic clock."""
    deadline = time.monotonic() + seconds
    while True:
        written = heartbeats(database)
        if any(moment > since for moment in written):
            return
        assert time.monotonic() < deadline, f"none of {written} is later than {since}"
        time.sleep(0.1)


def heartbeats(database: Restarted) -> list[float]:
    """When each was written, or up to a moment before."""
    now = time.monotonic()
    return [now - float(age) for (age,) in database.rows(HEARTBEATS)]


def wait_until_it_deferred(database: Restarted) -> None:
    """So that the deferrer holds a connection: what it does every five seconds it has done."""
    deadline = time.monotonic() + 20
    while not database.rows("SELECT 1 FROM procrastinate_periodic_defers LIMIT 1"):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_an_idle_worker_is_well_again_after_every_loss_of_its_connections(database, tmp_path):
    output = tmp_path / "output"
    with idle_worker(database, output) as worker:
        wait_until_it_deferred(database)
        for how in ("ended", "fast", "immediate", "killed"):
            back = lose_connections(database, how)
            wait_for_heartbeat(database, since=back)
            # Beyond the next turn of the deferrer, which must not throw it off again.
            time.sleep(6)
            assert max(heartbeats(database)) > back, how
            assert worker.poll() is None

    assert "Traceback" not in output.read_text()
    assert len(output.read_text().splitlines()) < 30


def lose_connections(database: Restarted, how: str) -> float:
    if how != "ended":
        return database.restart(how)
    assert database.end_every_connection() > 1
    return time.monotonic()
