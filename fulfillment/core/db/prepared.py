"""Hot reads and writes: prepared statements sent by libpq itself, no query building, no model instances.

A cursor of psycopg takes 40 µs of processor time around a statement, libpq 10; and a request runs several.
"""

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import JSONField, Model
from django.db.models.expressions import DatabaseDefault
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format, TransactionStatus
from psycopg.types.json import Jsonb

Parameters = Sequence[Any] | dict[str, Any]
M = TypeVar("M", bound=Model)

DONE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
# The statement is unknown after a pooler's reset, or its result types changed by a migration.
OUTDATED = (b"26000", b"0A000")
SQLSTATE = psycopg.pq.DiagnosticField.SQLSTATE


def fetch_row(statement: str, parameters: Parameters = ()) -> tuple[Any, ...] | None:
    """The first row of a statement that stays prepared on its connection, or None.

    Only for constant statement texts: every distinct text occupies a prepared statement on the server.
    The statement counts in Django's query log like any other.
    """
    rows = fetch_rows(statement, parameters)
    return rows[0] if rows else None


def fetch_rows(
    statement: str, parameters: Parameters = (), alias: str = DEFAULT_DB_ALIAS
) -> list[tuple[Any, ...]]:
    """Every row of a statement that stays prepared on its connection; see `fetch_row`."""
    # The connection of this thread, looked up once: `django.db.connection` looks it up at every access.
    connection = connections[alias]
    prepared = _prepared(connection)
    with connection.wrap_database_errors:
        rows = prepared.rows(prepared.run(statement, parameters))
    if connection.force_debug_cursor:
        connection.queries_log.append({"sql": statement, "time": "0.000"})
    return rows


def fetch_instance(model: type[M], condition: str, parameters: Parameters = ()) -> M | None:
    """The first row of a model that meets a condition (a constant text, as for `fetch_row`), or None."""
    statement, names = _select_statement(model, condition)
    row = fetch_row(statement, parameters)
    return None if row is None else model.from_db(DEFAULT_DB_ALIAS, names, row)


def execute(statement: str, parameters: Parameters = ()) -> None:
    """A hot write as a prepared statement, in the transaction of the moment; see `fetch_row`."""
    connection = connections[DEFAULT_DB_ALIAS]
    prepared = _prepared(connection)
    with connection.wrap_database_errors:
        prepared.run(statement, parameters)
    if connection.force_debug_cursor:
        connection.queries_log.append({"sql": statement, "time": "0.000"})


class _Prepared:
    """What one connection has prepared. psycopg must not prepare statements on it: it would discard these."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.names: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._count = 0
        self._transformer = Transformer(handle)

    def run(self, statement: str, parameters: Parameters) -> Any:
        """The result as libpq has it; raises what a cursor of psycopg would."""
        text, order = _numbered(statement)
        values = [parameters[name] for name in order] if isinstance(parameters, dict) else parameters
        sent = self._transformer.dump_sequence(values, [PyFormat.AUTO] * len(values))
        types, formats = self._transformer.types or (), self._transformer.formats
        libpq = self.handle.pgconn
        is_free = libpq.transaction_status == TransactionStatus.IDLE
        if is_free and not self.handle.autocommit:
            self._checked(libpq.exec_(b"BEGIN"))
        name = self.names.get((statement, types)) or self._prepare(statement, text, types)
        result = libpq.exec_prepared(name, sent, formats, Format.BINARY)
        if result.status not in DONE and result.error_field(SQLSTATE) in OUTDATED:
            self.names.clear()
            if is_free and self.handle.autocommit:
                name = self._prepare(statement, text, types)
                result = libpq.exec_prepared(name, sent, formats, Format.BINARY)
        return self._checked(result)

    def rows(self, result: Any) -> list[tuple[Any, ...]]:
        self._transformer.set_pgresult(result)
        return self._transformer.load_rows(0, result.ntuples, tuple)

    def _prepare(self, statement: str, text: bytes, types: tuple[int, ...]) -> bytes:
        self._count += 1
        name = b"hot_%d" % self._count
        self._checked(self.handle.pgconn.prepare(name, text, types))
        self.names[statement, types] = name
        return name

    def _checked(self, result: Any) -> Any:
        if result.status in DONE:
            return result
        # Errors without a code come from libpq, which still reports a connection as good after the server's final
        # message.
        if self.handle.pgconn.status == ConnStatus.BAD or result.error_field(SQLSTATE) is None:
            raise psycopg.OperationalError(result.get_error_message())
        raise error_from_result(result)


def _prepared(connection: Any) -> _Prepared:
    """The prepared statements of a connection, stored with it."""
    # It looks for an event loop first, which costs as much as all else here.
    if connection.connection is None:
        connection.ensure_connection()
    known: _Prepared | None = getattr(connection, "hot_statements", None)
    if known is None or known.handle is not connection.connection:
        known = connection.hot_statements = _Prepared(connection.connection)
    return known


@cache
def _numbered(statement: str) -> tuple[bytes, list[str]]:
    """Replaces psycopg's placeholders (%s, %(name)s) by PostgreSQL's ($1); returns the names in order."""
    order: list[str] = []

    def place(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        if not match[1]:
            order.append("")
            return f"${len(order)}"
        if match[1] not in order:
            order.append(match[1])
        return f"${order.index(match[1]) + 1}"

    text = re.sub(r"%(?:\((\w+)\))?s|%%", place, statement)
    return text.encode(), order


def insert_row(instance: Model) -> None:
    """Writes a new row as `save(force_insert=True)` would, prepared."""
    values = {field.column: field.pre_save(instance, add=True) for field in instance._meta.concrete_fields}
    if instance.pk is None:
        values.pop(instance._meta.pk.column)
    json = _json_columns(type(instance))
    sent = {
        name: _plain(value, is_json=name in json)
        for name, value in values.items()
        if not isinstance(value, DatabaseDefault)
    }
    row = fetch_row(_insert_statement(type(instance), *sent), list(sent.values()))
    instance.pk = row and row[0]


@cache
def _json_columns(model: type[Model]) -> frozenset[str]:
    return frozenset(
        str(field.column) for field in model._meta.concrete_fields if isinstance(field, JSONField)
    )


@cache
def _insert_statement(model: type[Model], *columns: str) -> str:
    meta = model._meta
    places = ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {meta.db_table} ({', '.join(columns)}) VALUES ({places}) RETURNING {meta.pk.column}"  # noqa: S608 - names of our models


@cache
def _select_statement(model: type[Model], condition: str) -> tuple[str, list[str]]:
    """The statement, and the names of the fields it reads."""
    fields = model._meta.concrete_fields
    columns = ", ".join(str(field.column) for field in fields)
    statement = f"SELECT {columns} FROM {model._meta.db_table} WHERE {condition} LIMIT 1"  # noqa: S608
    return statement, [field.attname for field in fields]


def _plain(value: Any, *, is_json: bool) -> Any:
    """The value for the statement; a list is JSON only where the column is, else an array."""
    if isinstance(value, dict) or (is_json and isinstance(value, list)):
        return Jsonb(value)
    return value.value if isinstance(value, Enum) else value
