"""The scene of the soak: a database of its own, people and applications in it, and the service's real processes."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import orjson
import requests

from fulfillment.local import supervision

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("SOAK_POSTGRES") or ROOT / "var" / "soak-postgres")
STOP_SECONDS = 30
# They count, but refuse no request.
LIMITS = {
    "DEMO_ADVANCE_SECONDS": "0",
    "ADDRESS_REQUESTS_PER_MINUTE": "1000000000",
    "PAGES_PER_MINUTE": "100000000",
    "ADDRESS_PAGES_PER_MINUTE": "100000000",
    "TOKEN_FAILURES_PER_MINUTE": "1000000000",
    "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
}
_local = threading.local()
_media = tempfile.TemporaryDirectory(prefix="soak-media-")


def prepare() -> None:
    """Production's settings, but for what needs https; limits that count but refuse no request. An empty database."""
    from fulfillment.local.postgres import ensure_running
    from fulfillment.local.schema import load_schema

    secret = {
        name: "soak-only-0123456789-abcdefghijklmnopqrstuvwxyz-" + name
        for name in ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
    }
    FOLDER.parent.mkdir(exist_ok=True)
    os.environ.update(
        secret | LIMITS,
        FULFILLMENT_MODE="development",
        DJANGO_SETTINGS_MODULE="fulfillment.settings",
        DATABASE_URL=ensure_running(FOLDER, database="soak"),
        ALLOWED_HOSTS="127.0.0.1,testserver",
        MEDIA_ROOT=_media.name,
    )
    import django
    from django.core.management import call_command

    load_schema(os.environ["DATABASE_URL"])
    django.setup()
    call_command("migrate", verbosity=0)


def fresh_world() -> Any:
    """The world of the tests, in an empty database, with a product in its store."""
    from tests.benchmarks.data import lift_limits
    from tests.factories.orders import make_product
    from tests.support.scenario import build_world

    empty_database()
    world = build_world()
    make_product(world.associated)
    lift_limits()
    return world


def empty_database() -> None:
    from django.core.management import call_command
    from django.db import connection

    from tests.support.workers import forget_jobs

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SET fulfillment.may_empty = 'on'")
    call_command("flush", interactive=False, verbosity=0)
    forget_jobs()


def new_party() -> Any:
    """A confidential application with an owner and a redirect address, whose requests are not limited."""
    from tests.benchmarks.data import lift_limits
    from tests.factories.applications import ApplicationFactory
    from tests.support.oauth_flows import Party

    party = Party(ApplicationFactory(confidential=True))
    lift_limits()
    return party


class Caller:
    """Asks the service over HTTP, with the credentials of one client of the world."""

    def __init__(self, url: str, client: Any) -> None:
        self.url = url
        self.headers = {"Authorization": f"Bearer {client.token}", "Ocp-Apim-Subscription-Key": client.key}

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


@contextlib.contextmanager
def worker(output: IO[bytes] | None = None, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """`manage.py worker`; it may be killed before the block ends. `output` gets what it writes."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "worker"],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=output,
        stderr=output,
        start_new_session=True,
        preexec_fn=supervision.end_with_parent,
    )
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def rows(statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()
