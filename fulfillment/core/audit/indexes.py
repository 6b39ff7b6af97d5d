"""Indexes by which the audit log is read: each event table by time, and contexts by who acted.

The tables are found from pghistory, so a newly tracked model has its index after the migrations that make its table.
"""

from typing import Any

import pghistory.models
from django.apps import apps
from django.db import connection
from psycopg import sql

# Without the service's time limits: it reads the whole table and waits for writers.
WITHOUT_LIMITS = "SET statement_timeout = 0; SET lock_timeout = 0"
USUAL_LIMITS = "RESET statement_timeout; RESET lock_timeout"
BY_TIME = "CREATE INDEX {concurrently} {index} ON {table} (pgh_created_at, pgh_id)"
# Insertions and deletions are rare among updates, which a search would have to scan.
BY_ACTION = """
CREATE INDEX {concurrently} {index} ON {table} (pgh_label, pgh_created_at, pgh_id) WHERE pgh_label <> 'update'
"""
BY_USER = "CREATE INDEX {concurrently} {index} ON {table} ((metadata ->> 'user'))"
FOUND_INDEXES = """
SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid WHERE relname = ANY (%s)
"""


def event_models() -> list[Any]:
    """The event tables, by the label of the tracked model."""
    models = [model for model in apps.get_models() if issubclass(model, pghistory.models.Event)]
    tracked = [model for model in models if getattr(model, "pgh_tracked_model", None)]
    return sorted(tracked, key=lambda model: str(model.pgh_tracked_model._meta.label_lower))


def build_trail_indexes(**kwargs: Any) -> None:
    """Builds the indexes after migrations, without blocking the service; replaces interrupted builds."""
    tables = [model._meta.db_table for model in event_models()]
    contexts = pghistory.models.Context._meta.db_table
    names = {f"{table}_trail": (table, BY_TIME) for table in tables}
    names |= {f"{table}_action": (table, BY_ACTION) for table in tables}
    names[f"{contexts}_trail"] = (contexts, BY_USER)
    with connection.cursor() as cursor:
        cursor.execute(FOUND_INDEXES, [list(names)])
        is_valid = dict(cursor.fetchall())
        if all(is_valid.get(name) for name in names):
            return
        present = set(connection.introspection.table_names(cursor))
        for name, (table, statement) in names.items():
            if table in present and not is_valid.get(name):
                _build_index(cursor, name, table, statement)


def _build_index(cursor: Any, name: str, table: str, statement: str) -> None:
    concurrently = sql.SQL("" if connection.in_atomic_block else "CONCURRENTLY")
    index = sql.Identifier(name)
    cursor.execute(WITHOUT_LIMITS)
    try:
        cursor.execute(sql.SQL("DROP INDEX {} IF EXISTS {}").format(concurrently, index))
        cursor.execute(
            sql.SQL(statement).format(concurrently=concurrently, index=index, table=sql.Identifier(table))
        )
    finally:
        cursor.execute(USUAL_LIMITS)
