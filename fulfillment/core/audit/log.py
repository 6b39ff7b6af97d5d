"""The audit log: what happened to all tracked models, newest first, read page by page along an index of each table."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import pghistory.models
from django.core.exceptions import ValidationError
from django.db import connection
from psycopg import sql

from fulfillment.core.audit.indexes import event_models

BRANCH = """
(SELECT pgh_created_at, {kind}::text AS kind, pgh_id FROM {table} WHERE {conditions}
 ORDER BY pgh_created_at DESC, pgh_id DESC LIMIT {limit})
"""
PAGE = """
SELECT kind, pgh_id FROM ({branches}) found ORDER BY pgh_created_at DESC, kind DESC, pgh_id DESC LIMIT {limit}
"""
BY_USERS = "pgh_context_id IN (SELECT id FROM pghistory_context WHERE metadata ->> 'user' = ANY ({users}))"
# Each event as JSON, the one of the same record before it, and the context.
ROWS = """
SELECT {kind}::text, event.pgh_id, to_jsonb(event.*) - {derived}::text[], former.row, context.metadata
FROM {table} event LEFT JOIN pghistory_context context ON context.id = event.pgh_context_id LEFT JOIN LATERAL (
    SELECT to_jsonb(older.*) - {derived}::text[] AS row FROM {table} older
    WHERE older.pgh_obj_id = event.pgh_obj_id AND older.pgh_id < event.pgh_id
    ORDER BY older.pgh_id DESC LIMIT 1
) former ON true
WHERE event.pgh_id = ANY ({keys})
"""
# Derived from other columns, and long.
DERIVED = frozenset({"rendering", "verbose_rendering"})


@dataclass(frozen=True, slots=True)
class LogPlace:
    """An entry's place in the order of the log; the next page starts after it."""

    when: datetime
    kind: str
    key: int


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """None means no filter. `kind` is the label of a tracked model, `users` are IDs."""

    users: Sequence[str] | None = None
    kind: str | None = None
    action: str | None = None
    begins: datetime | None = None
    ends: datetime | None = None
    object_id: str | None = None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An event, and the event of the same record before it."""

    kind: str
    event: Any
    former: Any

    @property
    def place(self) -> LogPlace:
        return LogPlace(self.event.pgh_created_at, self.kind, self.event.pk)


def read_log(filters: AuditFilter, *, limit: int, after: LogPlace | None = None) -> list[LogEntry]:
    branches = [branch for model in event_models() if (branch := _make_branch(model, filters, limit, after))]
    if not branches:
        return []
    union = sql.SQL(" UNION ALL ").join(branches)
    with connection.cursor() as cursor:
        _execute(cursor, sql.SQL(PAGE).format(branches=union, limit=sql.Literal(limit)))
        places: list[tuple[str, int]] = cursor.fetchall()
        return _read_entries(cursor, places) if places else []


def _read_entries(cursor: Any, places: list[tuple[str, int]]) -> list[LogEntry]:
    """The events of all tables in one query."""
    models = {kind_of(model): model for model in event_models()}
    keys: dict[str, list[int]] = defaultdict(list)
    for kind, key in places:
        keys[kind].append(key)
    parts = [
        sql.SQL(ROWS).format(
            kind=sql.Literal(kind),
            table=sql.Identifier(models[kind]._meta.db_table),
            derived=sql.Literal(list(DERIVED)),
            keys=sql.Literal(of_kind),
        )
        for kind, of_kind in keys.items()
    ]
    _execute(cursor, sql.SQL(" UNION ALL ").join(parts))
    entries = {}
    for kind, key, row, former, metadata in cursor.fetchall():
        event = _make_event(models[kind], row)
        event.pgh_context = pghistory.models.Context(metadata=_parse_json(metadata)) if metadata else None
        entries[(kind, key)] = LogEntry(kind, event, _make_event(models[kind], former) if former else None)
    # An event that retention deleted meanwhile is absent.
    return [entries[place] for place in places if place in entries]


def _make_event(model: Any, row: Any) -> Any:
    parsed = _parse_json(row)
    fields = [field for field in model._meta.concrete_fields if field.attname in parsed]
    values = [field.to_python(parsed[field.attname]) for field in fields]
    return model.from_db(connection.alias, [field.attname for field in fields], values)


def _parse_json(value: Any) -> dict[str, Any]:
    """Django's connections give JSON as text."""
    parsed: dict[str, Any] = orjson.loads(value) if isinstance(value, str | bytes) else value
    return parsed


def _execute(cursor: Any, statement: sql.Composed) -> None:
    """Sends text: pghistory, which reads every statement of a request that may write, takes no other."""
    cursor.execute(statement.as_string(cursor.connection))


def kind_of(model: Any) -> str:
    return str(model.pgh_tracked_model._meta.label_lower)


def _make_branch(model: Any, filters: AuditFilter, limit: int, after: LogPlace | None) -> sql.Composed | None:
    """The query on one table; None if nothing in it can match."""
    kind = kind_of(model)
    if filters.kind not in {None, kind} or filters.users == []:
        return None
    conditions = [sql.SQL("true"), *_limit_times(filters)]
    if filters.users is not None:
        conditions.append(sql.SQL(BY_USERS).format(users=sql.Literal(list(filters.users))))
    if filters.action is not None:
        conditions.append(sql.SQL("pgh_label = {}").format(sql.Literal(filters.action)))
    if filters.object_id is not None:
        if (key := _parse_key(model, filters.object_id)) is None:
            return None
        conditions.append(sql.SQL("pgh_obj_id = {}").format(sql.Literal(key)))
    if after is not None:
        conditions.append(_limit_to_later(kind, after))
    return sql.SQL(BRANCH).format(
        kind=sql.Literal(kind),
        table=sql.Identifier(model._meta.db_table),
        conditions=sql.SQL(" AND ").join(conditions),
        limit=sql.Literal(limit),
    )


def _limit_times(filters: AuditFilter) -> Iterable[sql.Composed]:
    if filters.begins:
        yield sql.SQL("pgh_created_at >= {}").format(sql.Literal(filters.begins))
    if filters.ends:
        yield sql.SQL("pgh_created_at < {}").format(sql.Literal(filters.ends))


def _limit_to_later(kind: str, after: LogPlace) -> sql.Composed:
    """The condition for entries after `after`: by time, then kind, then key."""
    if kind == after.kind:
        position = (sql.Literal(after.when), sql.Literal(after.key))
        return sql.SQL("(pgh_created_at, pgh_id) < ({}, {})").format(*position)
    comparison = "pgh_created_at <= {}" if kind < after.kind else "pgh_created_at < {}"
    return sql.SQL(comparison).format(sql.Literal(after.when))


def _parse_key(model: Any, text: str) -> Any:
    try:
        key = model.pgh_tracked_model._meta.pk.to_python(text)
        model.pgh_tracked_model._meta.pk.run_validators(key)
    except (ValidationError, ValueError):
        return None
    return key
