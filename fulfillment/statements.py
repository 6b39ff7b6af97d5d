"""Hot reads: one prepared statement, no query building, no model instances."""

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model
from django.db.models.expressions import DatabaseDefault
from psycopg.types.json import Jsonb


def fetch_row(statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> tuple[Any, ...] | None:
    """The first row of a statement that stays prepared on its connection, or None.

    Only for constant statement texts: every distinct text occupies a prepared statement on the server.
    The statement counts in Django's query log like any other.
    """
    rows = fetch_rows(statement, parameters)
    return rows[0] if rows else None


def fetch_rows(statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
    """Every row of a statement that stays prepared on its connection; see `fetch_row`."""
    # `connection` looks the thread's own one up at each use.
    own = connections[DEFAULT_DB_ALIAS]
    own.ensure_connection()
    # Django's own cursors bind on the client and can prepare nothing.
    with own.wrap_database_errors, psycopg.Cursor(own.connection) as cursor:
        cursor.execute(statement, parameters, prepare=True, binary=True)
        rows = cursor.fetchall()
    if own.queries_logged:
        own.queries_log.append({"sql": statement, "time": "0.000"})
    return rows


def execute(statement: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> None:
    """A hot write as a prepared statement, in the transaction of the moment; see `fetch_row`."""
    own = connections[DEFAULT_DB_ALIAS]
    own.ensure_connection()
    with own.wrap_database_errors, psycopg.Cursor(own.connection) as cursor:
        cursor.execute(statement, parameters, prepare=True)
    if own.queries_logged:
        own.queries_log.append({"sql": statement, "time": "0.000"})


def insert_row(instance: Model) -> None:
    """Writes a new row as `save(force_insert=True)` would, prepared; a key made by the database is not read."""
    fields = instance._meta.concrete_fields  # noqa: SLF001 - Django's public Meta API
    values = {field.column: getattr(instance, field.attname) for field in fields}
    values = {name: value for name, value in values.items() if not isinstance(value, DatabaseDefault)}
    if instance.pk is None:
        values.pop(instance._meta.pk.column)  # noqa: SLF001
    execute(_insert_statement(instance._meta.db_table, *values), [_plain(value) for value in values.values()])  # noqa: SLF001


@cache
def _insert_statement(table: str, *columns: str) -> str:
    places = ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608 - names of our models


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return Jsonb(value)
    return value.value if isinstance(value, Enum) else value
