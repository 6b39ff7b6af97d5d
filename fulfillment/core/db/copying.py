"""Writes many rows at once, by COPY of PostgreSQL."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection


def copy_rows(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Table and columns must be constant names."""
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    # Django does not wrap the errors of this method of its cursor.
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
