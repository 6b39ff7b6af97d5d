"""The audit log: what happened to all tracked models, newest first, read page by page along an index of each table."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.db import connection
from psycopg import sql

from fulfillment.core.audit.indexes import event_models

BRANCH = """
(SELECT pgh_created_at, {kind}::text AS kind, pgh_id, pgh_label, pgh_obj_id::text AS object_id, pgh_context_id
 FROM {table} WHERE {conditions} ORDER BY pgh_created_at DESC, pgh_id DESC LIMIT {limit})
"""
PAGE = """
SELECT page.*, context.metadata
FROM (
    SELECT * FROM ({branches}) found ORDER BY pgh_created_at DESC, kind DESC, pgh_id DESC LIMIT {limit}
) page
LEFT JOIN pghistory_context context ON context.id = page.pgh_context_id
ORDER BY page.pgh_created_at DESC, page.kind DESC, page.pgh_id DESC
"""
BY_USERS = "pgh_context_id IN (SELECT id FROM pghistory_context WHERE metadata ->> 'user' = ANY ({users}))"
# The record after each event, and after the event before it.
ROWS = """
SELECT {kind}::text, event.pgh_id, to_jsonb(event.*) - {hidden}::text[], former.row
FROM {table} event LEFT JOIN LATERAL (
    SELECT to_jsonb(older.*) - {hidden}::text[] AS row FROM {table} older
    WHERE older.pgh_obj_id = event.pgh_obj_id AND older.pgh_id < event.pgh_id
    ORDER BY older.pgh_id DESC LIMIT 1
) former ON true
WHERE event.pgh_id = ANY ({keys})
"""
HIDDEN = ["rendering", "verbose_rendering"]


@dataclass(frozen=True, slots=True)
class LogPlace:
    """An entry's place in the order of the log; the next page starts after it."""

    when: datetime
    kind: str
    key: int


@dataclass(frozen=True, slots=True)
class LogFilter:
    """None means no filter. `kind` is the label of a tracked model, `users` are IDs."""

    users: Sequence[str] | None = None
    kind: str | None = None
    action: str | None = None
    begins: datetime | None = None
    ends: datetime | None = None
    object_id: str | None = None


@dataclass(slots=True)
class LogEntry:
    """An entry with the columns of the record `before` and `after` the event."""

    when: datetime
    kind: str
    key: int
    action: str
    object_id: str
    context: dict[str, Any]
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None

    @property
    def place(self) -> LogPlace:
        return LogPlace(self.when, self.kind, self.key)


def read_log(chosen: LogFilter, *, limit: int, after: LogPlace | None = None) -> list[LogEntry]:
    branches = [branch for model in event_models() if (branch := _branch(model, chosen, limit, after))]
    if not branches:
        return []
    union = sql.SQL(" UNION ALL ").join(branches)
    with connection.cursor() as cursor:
        _execute(cursor, sql.SQL(PAGE).format(branches=union, limit=sql.Literal(limit)))
        entries = [
            LogEntry(when, kind, key, label, object_id, _parsed(metadata))
            for when, kind, key, label, object_id, _, metadata in cursor.fetchall()
        ]
        if entries:
            _add_rows(cursor, entries)
    return entries


def _execute(cursor: Any, statement: sql.Composed) -> None:
    """As text: pghistory, which reads every statement of a request that may write, takes no other."""
    cursor.execute(statement.as_string(cursor.connection))


def kind_of(model: Any) -> str:
    return str(model.pgh_tracked_model._meta.label_lower)


def _branch(model: Any, chosen: LogFilter, limit: int, after: LogPlace | None) -> sql.Composed | None:
    """The query on one table; None if nothing in it can match."""
    kind = kind_of(model)
    if chosen.kind not in {None, kind} or chosen.users == []:
        return None
    conditions = [sql.SQL("true"), *_times(chosen)]
    if chosen.users is not None:
        conditions.append(sql.SQL(BY_USERS).format(users=sql.Literal(list(chosen.users))))
    if chosen.action is not None:
        conditions.append(sql.SQL("pgh_label = {}").format(sql.Literal(chosen.action)))
    if chosen.object_id is not None:
        if (key := _key(model, chosen.object_id)) is None:
            return None
        conditions.append(sql.SQL("pgh_obj_id = {}").format(sql.Literal(key)))
    if after is not None:
        conditions.append(_later(kind, after))
    return sql.SQL(BRANCH).format(
        kind=sql.Literal(kind),
        table=sql.Identifier(model._meta.db_table),
        conditions=sql.SQL(" AND ").join(conditions),
        limit=sql.Literal(limit),
    )


def _times(chosen: LogFilter) -> Iterable[sql.Composed]:
    if chosen.begins:
        yield sql.SQL("pgh_created_at >= {}").format(sql.Literal(chosen.begins))
    if chosen.ends:
        yield sql.SQL("pgh_created_at < {}").format(sql.Literal(chosen.ends))


def _later(kind: str, after: LogPlace) -> sql.Composed:
    """The condition for entries after `after`: by time, then kind, then key."""
    if kind == after.kind:
        known = (sql.Literal(after.when), sql.Literal(after.key))
        return sql.SQL("(pgh_created_at, pgh_id) < ({}, {})").format(*known)
    comparison = "pgh_created_at <= {}" if kind < after.kind else "pgh_created_at < {}"
    return sql.SQL(comparison).format(sql.Literal(after.when))


def _key(model: Any, text: str) -> Any:
    try:
        key = model.pgh_tracked_model._meta.pk.to_python(text)
        model.pgh_tracked_model._meta.pk.run_validators(key)
    except (ValidationError, ValueError):
        return None
    return key


def _add_rows(cursor: Any, entries: list[LogEntry]) -> None:
    """Adds the rows before and after, in one query."""
    tables = {kind_of(model): model._meta.db_table for model in event_models()}
    keys: dict[str, list[int]] = defaultdict(list)
    for entry in entries:
        keys[entry.kind].append(entry.key)
    parts = [
        sql.SQL(ROWS).format(
            kind=sql.Literal(kind),
            table=sql.Identifier(tables[kind]),
            hidden=sql.Literal(HIDDEN),
            keys=sql.Literal(found),
        )
        for kind, found in keys.items()
    ]
    _execute(cursor, sql.SQL(" UNION ALL ").join(parts))
    rows = {(kind, key): (after, before) for kind, key, after, before in cursor.fetchall()}
    for entry in entries:
        entry.after, entry.before = map(_parsed_or_none, rows[(entry.kind, entry.key)])


def _parsed_or_none(value: Any) -> dict[str, Any] | None:
    return None if value is None else _parsed(value)


def _parsed(value: Any) -> dict[str, Any]:
    """Django's connections give JSON as text."""
    found: dict[str, Any] = orjson.loads(value) if isinstance(value, str | bytes) else value or {}
    return found
