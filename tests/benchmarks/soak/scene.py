"""The scene of the soak: a database of its own, people and applications in it, and the service's real processes."""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import requests

from tests.benchmarks.data import empty_database, lift_limits
from tests.benchmarks.databases import ROOT, use_database
from tests.support.patience import PATIENCE

FOLDER = Path(os.environ.get("SOAK_POSTGRES") or ROOT / "var" / "soak-postgres")
# They count, but refuse no request.
LIMITS = {
    "DEMO_ADVANCE_SECONDS": "0",
    "ADDRESS_REQUESTS_PER_MINUTE": "1000000000",
    "TOKEN_FAILURES_PER_MINUTE": "1000000000",
    "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
}
_local = threading.local()


def prepare() -> None:
    use_database("soak", folder=FOLDER, ALLOWED_HOSTS="127.0.0.1,testserver", **LIMITS)


def fresh_world() -> Any:
    """The world of the tests, in an empty database, with a product in its store."""
    from tests.factories.orders import make_product
    from tests.support.scenario import build_world

    empty_database()
    world = build_world()
    make_product(world.associated)
    lift_limits()
    return world


def new_party() -> Any:
    """A confidential application with an owner and a redirect address, whose requests are not limited."""
    from tests.factories.applications import ApplicationFactory
    from tests.support.accounts.oauth_flows import Party

    party = Party(ApplicationFactory(confidential=True))
    lift_limits()
    return party


class Caller:
    """Asks the service over HTTP, with the credentials of one client of the world."""

    def __init__(self, url: str, client: Any) -> None:
        self.url = url
        self.headers = client.credentials

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> requests.Response:
        return session().request(
            method,
            f"{self.url}/api/v1{path}",
            data=b"" if body is None else orjson.dumps(body),
            headers={**self.headers, "Content-Type": "application/json", **headers},
            timeout=60,
        )


def session() -> requests.Session:
    """One for each thread, so that connections are kept."""
    if not hasattr(_local, "session"):
        _local.session = requests.Session()
        _local.session.trust_env = False
    return _local.session


class Crowd:
    """Threads that do the same thing at the same time."""

    def __init__(self, size: int) -> None:
        self.size, self.barrier = size, threading.Barrier(size)
        self.pool = ThreadPoolExecutor(size)

    def at_once(self, act: Callable[[], requests.Response]) -> list[requests.Response]:
        def run(_: int) -> requests.Response:
            self.barrier.wait()
            return act()

        return list(self.pool.map(run, range(self.size)))


def form(url: str, party: Any, **fields: str) -> requests.Response:
    """A request at the token endpoint."""
    return session().post(
        f"{url}/oauth/token",
        data=fields,
        auth=(party.application.client_id, party.secret),
        timeout=60,
    )


def restart_postgres(how: str, *, away: float = 0) -> float:
    """Stops the server, or kills it; returns when it first accepts a connection again."""
    from django.db import connection

    from fulfillment.local.postgres_layout import find_host

    connection.close()
    host = find_host(FOLDER.resolve())
    if how == "killed":
        os.kill(int((host.data / "postmaster.pid").read_text().split("\n", 1)[0]), signal.SIGKILL)
    else:
        host.run("pg_ctl", "stop", "-D", str(host.data), "-m", how, "-w")
    time.sleep(away)
    back: list[float] = []
    looking = threading.Thread(target=_look_for_server, args=(back,))
    looking.start()
    deadline = time.monotonic() + PATIENCE
    # Those a killed one left behind hold its memory until they notice.
    while host.run("pg_ctl", "start", "-D", str(host.data), "-l", str(host.data / "log"), "-w").returncode:
        if time.monotonic() > deadline:
            raise RuntimeError("PostgreSQL does not start again")
    looking.join()
    return back[0]


def _look_for_server(back: list[float]) -> None:
    import psycopg

    while not back:
        try:
            psycopg.connect(os.environ["DATABASE_URL"], connect_timeout=5).close()
            back.append(time.monotonic())
        except psycopg.OperationalError:
            time.sleep(0.01)


def wait_until_delivered() -> int:
    """How many deliveries still wait in the end."""
    from applications.webhooks.models import Delivery

    deadline = time.monotonic() + PATIENCE
    while (left := Delivery.objects.exclude(state="Delivered").count()) and time.monotonic() < deadline:
        time.sleep(0.5)
    return left


def rows(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()
