"""PostgreSQL is restarted under a worker and a web process: both are well again at once and by themselves."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from applications.demo import APPLICATION_ID, APPLICATION_KEY, APPLICATION_SUBSCRIPTION_KEY
from tests.support.database.tables import load_demo_catalog, load_tables
from tests.support.patience import PATIENCE, ROUNDS, wait_for
from tests.support.servers.cutting_proxy import cutting
from tests.support.servers.live_server import Served, serving
from tests.support.servers.postgres_server import ROOT, Restarted, own_postgres

pytestmark = pytest.mark.slow

FRESH_SECONDS = 10
HEARTBEATS = "SELECT extract(epoch FROM now() - last_heartbeat) FROM procrastinate_workers"


@pytest.fixture(scope="module")
def database() -> Iterator[Restarted]:
    with own_postgres() as server:
        load_tables(server.url, server.manage)
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
        seconds_until_heartbeat(database, since=0)
        yield worker
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def seconds_until_heartbeat(database: Restarted, *, since: float) -> float:
    """From the moment `since` of this machine's monotonic clock to one that was written after it."""
    written: list[float] = wait_for(lambda: [moment for moment in heartbeats(database) if moment > since])
    return min(written) - since


def heartbeats(database: Restarted) -> list[float]:
    """When each was written, or up to a moment before."""
    now = time.monotonic()
    return [now - float(age) for (age,) in database.rows(HEARTBEATS)]


def wait_until_it_deferred(database: Restarted) -> None:
    """So that the deferrer holds a connection: what it does every five seconds it has done once more."""
    last = "SELECT coalesce(max(defer_timestamp), 0) FROM procrastinate_periodic_defers"
    before = database.rows(last)
    wait_for(lambda: database.rows(last) > before)


def test_idle_worker_is_well_again_after_every_loss_of_its_connections(database, tmp_path):
    output = tmp_path / "output"
    losses = 0
    with idle_worker(database, output) as worker:
        wait_until_it_deferred(database)
        for how in ("ended", "fast", "immediate", "killed"):
            # The mark stands for a machine of its own: beside other tests one of several rounds must reach it.
            for _ in range(ROUNDS):
                losses += 1
                back = lose_connections(database, how)
                seconds = seconds_until_heartbeat(database, since=back)
                # Its turn must not throw the worker off again.
                wait_until_it_deferred(database)
                assert max(heartbeats(database)) > back, how
                assert worker.poll() is None
                if seconds <= FRESH_SECONDS:
                    break
            assert seconds <= FRESH_SECONDS, how

    assert "Traceback" not in output.read_text()
    assert len(output.read_text().splitlines()) < 7.5 * losses


def lose_connections(database: Restarted, how: str) -> float:
    if how != "ended":
        return database.restart(how)
    assert database.end_every_connection() > 1
    return time.monotonic()


@pytest.fixture(scope="module")
def demo(database) -> Restarted:
    load_demo_catalog(database.manage)
    database.rows("UPDATE accounts_subscription SET requests_per_minute = 1000000")
    return database


def ask_for_token(url: str) -> requests.Response:
    """A write: every token is a row."""
    return requests.post(
        f"{url}/oauth/token",
        data={"grant_type": "client_credentials"},
        auth=(APPLICATION_ID, APPLICATION_KEY),
        timeout=PATIENCE,
    )


def read_store(url: str, token: str) -> requests.Response:
    headers = {"Authorization": f"Bearer {token}", "Ocp-Apim-Subscription-Key": APPLICATION_SUBSCRIPTION_KEY}
    return requests.get(f"{url}/api/v1/store/demo", headers=headers, timeout=PATIENCE)


@pytest.fixture(scope="module")
def served(demo, tmp_path_factory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("service")
    with serving(folder, workers=2, threads=4, database=demo.url) as served:
        yield served


@pytest.mark.parametrize("how", ["ended", "fast", "killed"])
def test_reads_and_writes_after_a_restart_are_answered_as_ever(demo, served, how):
    """Each thread of the web processes holds a connection that the restart has ended."""
    token = ask_for_token(served.url).json()["access_token"]

    def ask(number: int) -> tuple[str, int]:
        if number % 4 == 3:
            return "write", ask_for_token(served.url).status_code
        return "read", read_store(served.url, token).status_code

    with ThreadPoolExecutor(16) as pool:
        before = Counter(pool.map(ask, range(64)))
        lose_connections(demo, how)
        after = Counter(pool.map(ask, range(268)))

    assert before == {("read", 200): 48, ("write", 200): 16}
    assert after == {("read", 200): 201, ("write", 200): 67}
    assert "Traceback" not in served.log.read_text()


def test_read_whose_connection_is_cut_is_repeated_and_a_write_is_not(demo, tmp_path):
    """Cut in the middle of a statement, which no look at the socket can foresee."""
    with (
        cutting(demo.url, cuts=0, farthest=1, seed=1) as proxy,
        serving(tmp_path, workers=1, threads=1, database=proxy.url_of(demo.url)) as served,
    ):
        token = ask_for_token(served.url).json()["access_token"]
        assert [read_store(served.url, token).status_code for _ in range(2)] == [200, 200]
        proxy.cut_next()
        assert (read_store(served.url, token).status_code, proxy.made) == (200, 1)
        proxy.cut_next()
        assert (ask_for_token(served.url).status_code, proxy.made) == (503, 2)
        assert ask_for_token(served.url).status_code == 200
