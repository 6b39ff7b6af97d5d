"""A web process beside a real streaming replica: what it serves, what it leaves to the primary, and its loss."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from applications.demo import APPLICATION_ID, APPLICATION_KEY, APPLICATION_SUBSCRIPTION_KEY
from tests.support.live_server import Served, serving
from tests.support.patience import PATIENCE, ROUNDS, wait_for
from tests.support.postgres_server import Restarted, own_postgres
from tests.support.streaming_replica import StreamingReplica, streaming_replica

pytestmark = pytest.mark.slow

RENAME = "UPDATE stores_store SET rendering = replace(rendering, '{old}', '{new}') WHERE external_id = 'demo'"
NAME = "SELECT rendering::json->>'CompanyName' FROM stores_store WHERE external_id = 'demo'"
# Of the replica: each read of a client is one transaction there.
SERVED = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
LAG = 2


@pytest.fixture(scope="module")
def primary() -> Iterator[Restarted]:
    with own_postgres() as server:
        server.manage("migrate", "--verbosity=0")
        server.manage("load_demo", "--verbosity=0")
        server.rows("UPDATE accounts_subscription SET requests_per_minute = 1000000")
        yield server


@pytest.fixture(scope="module")
def replica(primary) -> Iterator[StreamingReplica]:
    with streaming_replica(primary.folder, primary.url.rpartition("/")[2].partition("?")[0]) as made:
        yield made


@pytest.fixture(scope="module")
def service(primary, replica, tmp_path_factory) -> Iterator[Served]:
    variables = {"DATABASE_REPLICA_URL": replica.url, "DATABASE_REPLICA_LAG_SECONDS": str(LAG)}
    with serving(
        tmp_path_factory.mktemp("served"),
        threads=4,
        database=primary.url,
        METRICS_NETWORKS="127.0.0.0/8",
        **variables,
    ) as served:
        yield served


@pytest.fixture(scope="module")
def read(service) -> Callable[[], str]:
    """Reads the demo store; the company's name."""
    answer = requests.post(
        f"{service.url}/oauth/token",
        data={"grant_type": "client_credentials"},
        auth=(APPLICATION_ID, APPLICATION_KEY),
        timeout=PATIENCE,
    )
    headers = {
        "Authorization": f"Bearer {answer.json()['access_token']}",
        "Ocp-Apim-Subscription-Key": APPLICATION_SUBSCRIPTION_KEY,
    }

    def read_name(_: int = 0) -> str:
        answer = requests.get(f"{service.url}/api/v1/store/demo", headers=headers, timeout=PATIENCE)
        return answer.json()["CompanyName"] if answer.status_code == 200 else str(answer.status_code)

    return read_name


def wait_until(holds: Callable[[], bool]) -> float:
    started = time.monotonic()
    wait_for(holds)
    return time.monotonic() - started


def is_up(service: Served) -> bool:
    return "fulfillment_replica_up 1.0" in requests.get(f"{service.url}/metrics", timeout=PATIENCE).text


def test_reads_are_the_replicas_and_lag_no_longer_than_the_greatest_lag(service, primary, replica, read):
    read()
    wait_until(lambda: is_up(service))
    [[before]] = replica.rows(SERVED)
    for _ in range(50):
        read()
    # Its counters are written when a connection has been idle for a second.
    wait_until(lambda: replica.rows(SERVED)[0][0] >= before + 50)

    # The marks stand for a machine of its own: beside other tests one of several rounds must reach them.
    for turn in range(ROUNDS):
        name, new = read(), f"Renamed {turn}"
        replica.rows("SELECT pg_wal_replay_pause()")
        try:
            primary.rows(RENAME.format(old=name, new=new))
            was_behind = read() == name
            lag = wait_until(lambda new=new: read() == new)
            assert not is_up(service)
            ready = requests.get(f"{service.url}/readyz?worker=0", timeout=PATIENCE)
            assert (ready.status_code, ready.json()["checks"]["replica"]) == (
                200,
                f"the replica is more than {LAG} s behind",
            )
        finally:
            replica.rows("SELECT pg_wal_replay_resume()")
        wait_until(lambda: is_up(service))
        assert read() == new
        if was_behind and lag < LAG + 1:
            break
    assert was_behind
    assert lag < LAG + 1


def test_no_read_fails_while_the_replica_is_killed_and_it_serves_again_when_it_is_back(
    service, replica, read
):
    wait_until(lambda: is_up(service))
    with ThreadPoolExecutor(4) as pool:
        under_way = [pool.submit(read) for _ in range(200)]
        replica.kill()
        answers = Counter(each.result() for each in under_way)
        answers += Counter(pool.map(read, range(50)))
    assert not [name for name in answers if name.isdigit()], answers
    wait_until(lambda: not is_up(service))

    replica.start()
    wait_until(lambda: is_up(service))
    [[before]] = replica.rows(SERVED)
    for _ in range(20):
        read()
    wait_until(lambda: replica.rows(SERVED)[0][0] >= before + 20)


def test_server_that_is_no_replica_serves_nothing(primary, tmp_path):
    with serving(tmp_path, threads=2, database=primary.url, DATABASE_REPLICA_URL=primary.url) as served:
        checks = requests.get(f"{served.url}/readyz?worker=0", timeout=PATIENCE).json()["checks"]

    assert checks["replica"] == "DATABASE_REPLICA_URL names a server that is no replica"
