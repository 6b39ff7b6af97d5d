"""The health of a worker process: heartbeat, watchdog, connections, and logging during an outage."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, close_old_connections, connections, reset_queries
from django.db import Error as DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from procrastinate import exceptions, sql
from procrastinate.contrib.django.django_connector import DjangoConnector
from procrastinate.psycopg_connector import PsycopgConnector
from psycopg_pool import PoolTimeout

from fulfillment.core.db.connections import log_database_recovered, renew_connection
from fulfillment.core.plugins import service_apps

logger = logging.getLogger("fulfillment.worker")

DATABASE_ERRORS = (exceptions.ConnectorException, DatabaseError, psycopg.Error, PoolTimeout, OSError)
# The allowed delay of a heartbeat, which is due every 10 seconds.
LATE_SECONDS = 20.0
# Time for a worker to restart once the database can be reached.
RECOVERY_SECONDS = 20.0
POLL_SECONDS = 2.0
# Time for the database to accept a connection and answer one statement.
ANSWER_SECONDS = 5.0
# Loggers that repeat themselves during a database outage beside those of the apps, and how often they may. The one of
# asyncio reports jobs whose result could not be written.
NOISY_LOGGERS = ("asyncio", "fulfillment.core.outbox", "fulfillment.worker", "procrastinate", "psycopg.pool")
REPEAT_SECONDS = 60.0
_HEARTBEATS = {sql.queries["register_worker"], sql.queries["update_heartbeat"]}


class Heartbeat:
    """The time of this process's last written heartbeat."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    def note(self) -> None:
        self.last = time.monotonic()
        log_database_recovered()


class WatchedConnector(PsycopgConnector):
    """Procrastinate's connector, extended to note each written heartbeat."""

    def __init__(self, heartbeat: Heartbeat, **options: Any) -> None:
        super().__init__(**options)
        self._heartbeat = heartbeat

    async def execute_query_async(self, query: Any, **arguments: Any) -> None:
        await super().execute_query_async(query, **arguments)
        self._note(query)

    async def execute_query_one_async(self, query: Any, **arguments: Any) -> dict[str, Any]:
        row = await super().execute_query_one_async(query, **arguments)
        self._note(query)
        return row

    def _note(self, query: Any) -> None:
        if query in _HEARTBEATS:
            self._heartbeat.note()


class RenewingConnector(DjangoConnector):
    """Defers jobs through Django's connection of the thread, which nothing else renews in a worker.

    The periodic deferrer keeps one in asgiref's thread, unused for minutes or hours.
    """

    @property
    def connection(self) -> BaseDatabaseWrapper:
        connection = super().connection
        renew_connection(connection)
        return connection


def renew_around_job(call_next: Callable[[], Any], context: Any, worker: Any) -> Any:
    """Task middleware that renews closed connections before each job."""
    renew_connection()
    try:
        return call_next()
    finally:
        close_old_connections()
        reset_queries()


class Watchdog:
    """Ends the process when it writes no heartbeat though the database can be reached: systemd starts another.

    It has a thread and a connection of its own, so that it works while anything else hangs, the event loop included.
    """

    def __init__(self, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self._reachable_since: float | None = None
        self._over = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, name="watchdog", daemon=True).start()

    def stop(self) -> None:
        self._over.set()

    def _run(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            if self.must_end(time.monotonic()) and not self._over.is_set():
                logger.critical(
                    "No heartbeat was written though the database answers; leaving for another worker"
                )
                end_at_once()
                return

    def must_end(self, now: float) -> bool:
        if now - self._heartbeat.last < LATE_SECONDS:
            self._reachable_since = None
            return False
        if not database_responds():
            self._reachable_since = None
            return False
        if self._reachable_since is None:
            self._reachable_since = now
        return now - self._reachable_since >= RECOVERY_SECONDS


def database_responds() -> bool:
    """Whether a heartbeat could be written. A pooler takes connections even while it has no database behind it."""
    try:
        return asyncio.run(asyncio.wait_for(_is_writable(), ANSWER_SECONDS))
    except (psycopg.Error, OSError, TimeoutError):
        return False


async def _is_writable() -> bool:
    async with await psycopg.AsyncConnection.connect(
        **connection_parameters(), autocommit=True
    ) as connection:
        row = await (await connection.execute("SELECT NOT pg_is_in_recovery()")).fetchone()
    return bool(row and row[0])


def connection_parameters() -> dict[str, Any]:
    """The parameters of the worker's own connections, which lead past the pooler."""
    direct = connections[DEFAULT_DB_ALIAS].copy()
    direct.settings_dict = direct.settings_dict | settings.DIRECT_DATABASE
    parameters: dict[str, Any] = direct.get_connection_params()
    del parameters["cursor_factory"], parameters["context"]
    # None where the pooler takes none.
    return parameters | {"prepare_threshold": parameters["prepare_threshold"] and 3}


def end_at_once() -> None:
    logging.shutdown()
    os._exit(1)


def close_own_connection() -> None:
    """Closes the calling thread's connection; other threads renew theirs before each task."""
    connections[DEFAULT_DB_ALIAS].close()


def is_outage(error: BaseException | None) -> bool:
    """Whether the error is a lost connection and not a failed statement."""
    while error is not None:
        if isinstance(error, psycopg.Error):
            lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
            return lost and (error.sqlstate or "08").startswith(("08", "57P"))
        if isinstance(error, PoolTimeout | ConnectionError):
            return True
        error = error.__cause__
    return False


class DuplicateLogFilter(logging.Filter):
    """Reduces logging during an outage to one line a minute for each kind, without stacks."""

    def __init__(self) -> None:
        super().__init__()
        self._loggers = (*NOISY_LOGGERS, *(app.name for app in service_apps()))
        self._last_logged: dict[tuple[str, str], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if not record.name.startswith(self._loggers) or record.levelno in {logging.INFO, logging.CRITICAL}:
            return True
        if error is not None:
            if not is_outage(error):
                return True
            record.exc_info = record.exc_text = None
        # By the source line, because messages differ by their values.
        kind, now = (record.name, f"{record.pathname}:{record.lineno}"), time.monotonic()
        if now - self._last_logged.get(kind, -REPEAT_SECONDS) < REPEAT_SECONDS:
            return False
        self._last_logged[kind] = now
        return True
