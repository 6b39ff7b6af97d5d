"""The worker's watchdog, and what it logs of an outage."""

import logging
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import pytest
from django.db import OperationalError, connection
from psycopg_pool import PoolTimeout

from fulfillment.core import outbox
from fulfillment.core.db.connection_settings import connection_settings
from fulfillment.local.postgres_layout import find_host
from fulfillment.operations import worker_health
from fulfillment.operations.worker_health import DuplicateLogFilter, Heartbeat, Watchdog, is_outage
from tests.support.cluster.programs import make_folder, pooled_url, require_packages, start_pgbouncer
from tests.support.patience import PATIENCE, wait_for
from tests.support.servers.ports import free_port
from tests.support.servers.postgres_server import own_postgres
from tests.support.servers.workers import ROOT, forget_jobs, worker_environment

pytestmark = pytest.mark.slow

SHORT_TIMES = (
    "import django; django.setup(); from fulfillment.operations import worker_health as w; "
    "w.LATE_SECONDS, w.RECOVERY_SECONDS, w.POLL_SECONDS = 1, 1, 0.2; "
    "from django.core.management import call_command; call_command('worker')"
)


@pytest.fixture
def reachable(monkeypatch):
    """Whether the database can be reached, as the test says."""
    answers = [True]
    monkeypatch.setattr(worker_health, "database_responds", lambda: answers[-1])
    return answers


def test_worker_with_fresh_heartbeats_continues(reachable):
    heartbeat = Heartbeat()

    assert Watchdog(heartbeat).must_end(heartbeat.last + 15) is False


def test_while_the_database_is_away_a_worker_waits_for_it(reachable):
    heartbeat = Heartbeat()
    watchdog = Watchdog(heartbeat)
    reachable.append(False)

    assert [watchdog.must_end(heartbeat.last + later) for later in (30, 60, 3600)] == [False] * 3


def test_worker_gets_its_time_again_after_each_outage(reachable):
    heartbeat = Heartbeat()
    watchdog = Watchdog(heartbeat)

    assert watchdog.must_end(heartbeat.last + 3600) is False
    assert watchdog.must_end(heartbeat.last + 3615) is False
    reachable.append(False)
    assert watchdog.must_end(heartbeat.last + 3618) is False
    reachable.append(True)
    assert watchdog.must_end(heartbeat.last + 3625) is False
    assert watchdog.must_end(heartbeat.last + 3646) is True


def test_watchdog_waits_while_a_pooler_has_no_database_behind_it(settings, monkeypatch):
    """PgBouncer goes on taking connections of clients."""
    require_packages("pgbouncer")
    monkeypatch.setattr(worker_health, "ANSWER_SECONDS", 2.0)
    with own_postgres() as database, tempfile.TemporaryDirectory(prefix="pooler-", dir="/tmp") as name:
        host, port = find_host(database.folder), free_port()
        Path(name).chmod(0o755)
        folder = make_folder(Path(name) / "pgbouncer", host.owner)
        sockets, server_port = database.socket
        pooler = start_pgbouncer(folder, port, host=sockets, server_port=server_port, owner=host.owner)
        settings.DIRECT_DATABASE = connection_settings("DATABASE_URL", pooled_url(port), pooler="transaction")
        try:
            wait_for(worker_health.database_responds)
            host.run("pg_ctl", "stop", "-D", str(host.data), "-w", "-m", "immediate")

            psycopg.connect(pooled_url(port), connect_timeout=5).close()
            assert not worker_health.database_responds()
        finally:
            pooler.terminate()
            pooler.wait(PATIENCE)


@pytest.mark.django_db(transaction=True)
def test_worker_that_cannot_write_its_heartbeat_leaves_for_another():
    """Blocked by any cause: here a lock that is never released."""
    forget_jobs()
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("LOCK TABLE procrastinate_workers IN ACCESS EXCLUSIVE MODE")
        ended = subprocess.run(
            [sys.executable, "-c", SHORT_TIMES],
            cwd=ROOT,
            env=worker_environment(),
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
        )
        cursor.execute("ROLLBACK")

    assert ended.returncode == 1
    assert b"No heartbeat was written though the database answers" in ended.stderr


def record(error: BaseException | None, *, name: str = "procrastinate.worker.worker", line: int = 1):
    level, info = logging.ERROR, (type(error), error, None) if error else None
    return logging.LogRecord(name, level, "worker.py", line, "Side task failed: %s", ("x",), info)


def test_outage_is_a_line_a_minute_without_a_stack(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    calm, lost = DuplicateLogFilter(), psycopg.errors.AdminShutdown("terminating connection")
    for name in ("asyncio", outbox.logger.name):
        assert [calm.filter(record(lost, name=name)) for _ in range(2)] == [True, False]
    first, second, other = record(lost), record(lost), record(lost, line=2)

    assert [calm.filter(each) for each in (first, second, other)] == [True, False, True]
    assert first.exc_info is None
    now[0] += 61
    assert calm.filter(record(lost)) is True


def test_other_errors_keep_their_stack_and_are_logged_each_time():
    calm, wrong = DuplicateLogFilter(), psycopg.errors.UndefinedColumn("column x does not exist")
    records = [
        record(wrong),
        record(wrong),
        record(ValueError("no")),
        record(OperationalError("x"), name="a"),
    ]

    assert [calm.filter(each) for each in records] == [True] * 4
    assert all(each.exc_info for each in records)


def test_outages_are_distinguished_from_errors_of_statements():
    lost, refused = OperationalError("x"), OperationalError("x")
    lost.__cause__ = psycopg.OperationalError("server closed the connection unexpectedly")
    refused.__cause__ = psycopg.errors.LockNotAvailable("canceling statement due to lock timeout")

    assert is_outage(lost)
    assert is_outage(PoolTimeout("no connection"))
    assert is_outage(psycopg.errors.CannotConnectNow("the database system is starting up"))
    assert not is_outage(refused)
    assert not is_outage(psycopg.ProgrammingError("2 placeholders but 1 parameter"))
    assert not is_outage(ValueError("x"))
