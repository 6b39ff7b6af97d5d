"""What a function wrote to the empty database, kept to be put back in one statement, and its files with it.

Services build the world of a test in forty; most tests only want it to be there. One process of a run makes it.
"""

import pickle
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Generic, TypeVar

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from psycopg import sql

Made = TypeVar("Made")
# A test under another clock gets what is made under it.
SAME_TIME = timedelta(hours=1)
COLUMNS = """
SELECT relname, array_agg(attname ORDER BY attnum) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND pg_relation_size(pg_class.oid) > 0
  AND relname NOT IN ('django_migrations', 'django_content_type', 'auth_permission')
  AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
GROUP BY relname
"""
INSERT = """INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE
SELECT {columns} FROM json_populate_recordset(NULL::{table}, {rows})"""
# What is made later gets no number of a row that another process made.
SEQUENCES = """
SELECT string_agg(format('setval(%1$L, greatest(%2$s, (SELECT last_value FROM %1$s)))', name, last_value), ', ')
FROM (SELECT format('%I.%I', schemaname, sequencename) AS name, last_value FROM pg_sequences
      WHERE schemaname = 'public' AND last_value IS NOT NULL) one
"""
# Rows of the audit trail are among those put back; its triggers would write them twice.
QUIETLY = "SET LOCAL session_replication_role = {}"


@dataclass(frozen=True)
class Snapshot(Generic[Made]):
    make: Callable[[], Made]
    moment: datetime
    statements: str
    sequences: str
    value: bytes
    files: Path

    def write(self, file: Path) -> None:
        file.write_bytes(pickle.dumps((self.moment, self.statements, self.sequences, self.value, self.files)))
        file.with_suffix(".root").write_text(str(settings.MEDIA_ROOT))

    def restore(self) -> Made:
        """Puts the rows there and returns a copy of what stands for them."""
        if not self.statements or abs(timezone.now() - self.moment) > SAME_TIME:
            return self.make()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(self.statements)
        # Tests empty the folder, and write files of the same names there.
        shutil.copytree(self.files, settings.MEDIA_ROOT, dirs_exist_ok=True)
        return pickle.loads(self.value)


def take_snapshot(make: Callable[[], Made], files: Path) -> Snapshot[Made]:
    """Outside of any test: all content of the database is taken for the work of `make`; `files` gets its files."""
    with own_files(files), transaction.atomic(), connection.cursor() as cursor:
        value = make()
        cursor.execute("SELECT current_setting('is_superuser')")
        # Without the right to put rows back past the triggers everything is made each time.
        statements = _inserts(cursor) if cursor.fetchone() == ("on",) else []
        cursor.execute(SEQUENCES)
        (sequences,) = cursor.fetchone()
        transaction.set_rollback(True)
    return Snapshot(make, timezone.now(), ";\n".join(statements), sequences, pickle.dumps(value), files)


def read_snapshot(file: Path, make: Callable[[], Made]) -> Snapshot[Made]:
    """Of a process whose folder of files has a name as long, which rows may hold."""
    root = file.with_suffix(".root").read_bytes()
    content = file.read_bytes().replace(root, str(settings.MEDIA_ROOT).encode())
    snapshot: Snapshot[Made] = Snapshot(make, *pickle.loads(content))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {snapshot.sequences}")
    return snapshot


@contextmanager
def own_files(files: Path) -> Iterator[None]:
    """Gets the files that are written meanwhile, and no other; rows name the place, so it stays the same."""
    root = Path(settings.MEDIA_ROOT)
    root.mkdir(parents=True, exist_ok=True)
    others = root.rename(root.with_name(f"{root.name}-others"))
    root.mkdir()
    try:
        yield
    finally:
        shutil.copytree(root, files, dirs_exist_ok=True)
        shutil.rmtree(root)
        others.rename(root)


def _inserts(cursor) -> list[str]:
    cursor.execute(COLUMNS)
    inserts = []
    for name, columns in cursor.fetchall():
        table = sql.Identifier(name)
        cursor.execute(sql.SQL("SELECT json_agg(one)::text FROM {} one").format(table))
        (rows,) = cursor.fetchone()
        if rows:
            listed = sql.SQL(", ").join(map(sql.Identifier, columns))
            inserts.append(sql.SQL(INSERT).format(table=table, columns=listed, rows=sql.Literal(rows)))
    quiet = [sql.SQL(QUIETLY).format(sql.SQL(role)) for role in ("replica", "origin")]
    return [statement.as_string(cursor.connection) for statement in (quiet[0], *inserts, quiet[1])]
