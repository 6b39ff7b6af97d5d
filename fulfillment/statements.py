"""Hot reads: one prepared statement, no query building, no model instances."""

from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from django.db import connection


def fetch_row(statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> tuple[Any, ...] | None:
    """The first row of a statement that stays prepared on its connection, or None.

    Only for constant statement texts: every distinct text occupies a prepared statement on the server.
    The statement counts in Django's query log like any other.
    """
    rows = fetch_rows(statement, parameters)
    return rows[0] if rows else None


def fetch_rows(statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
    """Every row of a statement that stays prepared on its connection; see `fetch_row`."""
    connection.ensure_connection()
    # Django's own cursors bind on the client and can prepare nothing.
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(statement, parameters, prepare=True, binary=True)
        rows = cursor.fetchall()
    if connection.queries_logged:
        connection.queries_log.append({"sql": statement, "time": "0.000"})
    return rows
