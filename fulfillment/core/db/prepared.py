"""Hot reads and writes: statements that stay prepared on their connection, no query building, no model instances.

Also the database's clock, which all machines share, and how to skip numbers of a sequence.
"""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model
from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName
from psycopg.pq import TransactionStatus

from fulfillment.core.db.long_statements import count_since

Parameters = Sequence[Any] | dict[str, Any]
M = TypeVar("M", bound=Model)

# The statement is unknown after a pooler's reset, or its result types changed by a migration.
OUTDATED = (InvalidSqlStatementName, FeatureNotSupported)
# Above the number of statements of the service, so that none is dropped for another.
MAX_PREPARED = 1000
# Not the cursor of Django, which puts values into the text. Tracing sets one that records its statements.
cursor_class: type[psycopg.Cursor[Any]] = psycopg.Cursor
# More than are given between a backup and its restore.
MARGIN = 1_000_000
# The schema of the old tables during a restore.
ASIDE = "before_restore"
SKIP = (
    "SELECT setval(found, greatest(nextval(found), pg_sequence_last_value(to_regclass(%s))) + %s) + 1"
    " FROM to_regclass(%s) found"
)


def fetch_row(statement: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
    """The first row of a statement that stays prepared on its connection, or None.

    Only for constant statement texts: every distinct text occupies a prepared statement on the server.
    The statement counts in Django's query log like any other.
    """
    rows = fetch_rows(statement, parameters)
    return rows[0] if rows else None


def fetch_rows(statement: str, parameters: Parameters = (), *, prepare: bool = True) -> list[tuple[Any, ...]]:
    """Every row of a statement that stays prepared on its connection; see `fetch_row`.

    `prepare=False` is for texts that are put together.
    """
    return _run(statement, parameters, prepare=prepare).fetchall()


def execute(statement: str, parameters: Parameters = ()) -> None:
    """A hot write as a prepared statement, in the transaction of the moment; see `fetch_row`."""
    _run(statement, parameters)


def _run(statement: str, parameters: Parameters, *, prepare: bool = True) -> psycopg.Cursor[tuple[Any, ...]]:
    # The connection of this thread, looked up once: `django.db.connection` looks it up at every access.
    connection = connections[DEFAULT_DB_ALIAS]
    if connection.connection is None:
        connection.ensure_connection()
    handle: psycopg.Connection[tuple[Any, ...]] = connection.connection
    with connection.wrap_database_errors:
        handle.prepared_max = MAX_PREPARED
        cursor, began = cursor_class(handle), time.monotonic()
        try:
            cursor.execute(statement, parameters, prepare=prepare, binary=True)
        except OUTDATED:
            if handle.info.transaction_status != TransactionStatus.IDLE:
                raise
            handle.execute("DEALLOCATE ALL")
            cursor.execute(statement, parameters, prepare=prepare, binary=True)
        finally:
            count_since(began)
    if connection.force_debug_cursor:
        connection.queries_log.append({"sql": statement, "time": "0.000"})
    return cursor


def database_now() -> datetime:
    """Clocks of machines may be wrong."""
    moment: datetime = fetch_rows("SELECT clock_timestamp()")[0][0]
    return moment


class DatabaseClock:
    """Continues from the last `set` without queries."""

    def __init__(self) -> None:
        self._known: tuple[datetime, float] | None = None

    def set(self) -> None:
        self._known = (database_now(), time.monotonic())

    def now(self) -> datetime:
        moment, since = self._known or (database_now(), time.monotonic())
        return moment + timedelta(seconds=time.monotonic() - since)


def skip_numbers(sequence: str) -> int | None:
    """Skips numbers, known to people and print providers, that may have been given.

    Returns the next one, or None if there is no such sequence yet.
    """
    row = fetch_row(SKIP, [f"{ASIDE}.{sequence}", MARGIN, sequence])
    return row[0] if row else None
