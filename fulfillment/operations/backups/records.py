"""Brings rows that were deleted back from a restored copy of the database, with all rows that pointed to them."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pghistory
import psycopg
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import IntegrityError, connection, transaction
from psycopg import sql

from fulfillment.core.db.locks import exclusive_job, long_transaction
from fulfillment.core.errors import Conflict, Unprocessable
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.plugins import offered_values
from fulfillment.operations.backups.making import named_files
from fulfillment.operations.backups.manifest import FILES, Content, hash_file, read_contents
from fulfillment.operations.backups.record_graph import Graph, Root, Selection

NOTHING = "Nothing was changed."
COLUMNS = """
SELECT column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = %s AND is_generated = 'NEVER' ORDER BY ordinal_position
"""


def restore_missing(names: Sequence[str], folder: Path | None) -> list[str]:
    """Returns the names that were found nowhere."""
    requested = set(names)
    if folder is not None:
        for content in read_contents(folder):
            # One that was damaged is not there.
            if content.name in requested and _restore(content, folder / FILES / content.name):
                requested.remove(content.name)
    return sorted(name for name in requested if not _undelete(name))


def _restore(content: Content, path: Path) -> bool:
    if not path.is_file() or hash_file(path) != content.sha256:
        return False
    with path.open("rb") as source:
        default_storage.save(content.name, File(source, name=content.name))
    return True


def _undelete(name: str) -> bool:
    """A deletion in a bucket with versions is a marker in front of the last version; without it the file is back."""
    bucket: Any = getattr(default_storage, "bucket", None)
    if bucket is None:
        return False
    # The name with the storage's location before it.
    key = default_storage._normalize_name(name)  # type: ignore[attr-defined]  # noqa: SLF001
    versions = [version for version in bucket.object_versions.filter(Prefix=key) if version.object_key == key]
    for marker in versions:
        # Only what is no marker has a size.
        if marker.is_latest and marker.size is None:
            marker.delete()
    return bool(default_storage.exists(name))


def restore_records(
    *,
    roots: Sequence[Root],
    copy: str,
    files: Path | None = None,
    without_files: bool = False,
    only_check: bool = False,
    on_progress: Callable[[str], None] = lambda line: None,
) -> dict[str, int]:
    """Returns the numbers of rows by table. All of them come back with their ids, or none.

    Raises Conflict where a row exists, and Unprocessable where the copy or the live database lacks what is needed.
    """
    begin = time.monotonic()

    def say(line: str) -> None:
        on_progress(f"[{time.monotonic() - begin:.0f} s] {line}")

    with exclusive_job("Restoring records"), _open_copy(copy) as source:
        _refuse_other_release(source)
        for root in roots:
            _check_root(root, source)
        say("Selecting the rows in the copy")
        selections = Graph(source, list(roots)).select()
        before = set(named_files())
        with _restored_files() as restored, pghistory.context(source="restore_record"), long_transaction():
            _write_rows(source, selections, say)
            missing = _missing_files(set(named_files()) - before, say)
            if only_check:
                say(f"Everything fits. This was a check: {NOTHING.lower()}")
                transaction.set_rollback(True)
            else:
                restored += missing
                _restore_files(missing, files, without_files)
                say("Committing")
    say("Done")
    return {selection.model._meta.db_table: selection.count for selection in selections}


@contextmanager
def _open_copy(copy: str) -> Iterator[psycopg.Connection]:
    """The copy, by "host:port" or "folder:port": its name, role and password are those of the live database."""
    host, _, port = copy.rpartition(":")
    values: dict[str, Any] = {
        **connection.get_connection_params(),
        "host": host,
        "port": port,
        "options": "-c statement_timeout=0 -c work_mem=256MB",
        "cursor_factory": psycopg.Cursor,
    }
    values.pop("target_session_attrs", None)
    if host.startswith(("/", "127.", "localhost")):
        values["sslmode"] = "prefer"
    try:
        opened = psycopg.connect(**values)
    except psycopg.OperationalError as error:
        raise Unprocessable(
            f"The copy at {copy} does not respond ({str(error).strip().splitlines()[-1]}). Start it with "
            f"restore-copy, and name it as host:port.",
            code="copy_unavailable",
        ) from error
    with opened:
        _refuse_itself(opened, copy)
        yield opened
        opened.rollback()


def _refuse_itself(source: psycopg.Connection, copy: str) -> None:
    """A copy has the number of its cluster, but another folder."""
    statement = "SELECT current_setting('port'), pg_postmaster_start_time()"
    with connection.cursor() as cursor:
        cursor.execute(statement)
        if cursor.fetchone() == source.execute(statement).fetchone():
            raise Conflict(
                f"{copy} is the live database itself; name the restored copy.", code="same_database"
            )


def _refuse_other_release(source: psycopg.Connection) -> None:
    statement = "SELECT app, name FROM django_migrations"
    try:
        migrations = set(source.execute(statement).fetchall())
    except psycopg.Error as error:
        raise Unprocessable(f"The copy has no tables of the service: {error}", code="copy_empty") from error
    with connection.cursor() as cursor:
        cursor.execute(statement)
        differing = sorted(".".join(migration) for migration in migrations ^ set(cursor.fetchall()))
    if differing:
        raise Unprocessable(
            f"The copy is of another release: {', '.join(differing[:3])} is applied in one of the two only. Run "
            "`manage.py prepare` of this release with DATABASE_URL of the copy and DATABASE_POOLER=none, then repeat.",
            code="copy_of_other_release",
        )


def _check_root(root: Root, source: psycopg.Connection) -> None:
    statement = sql.SQL("SELECT 1 FROM {} WHERE {} = {}").format(
        sql.Identifier(root.model._meta.db_table), sql.Identifier(root.column), sql.Literal(root.value)
    )
    if source.execute(statement).fetchone() is None:
        raise Unprocessable(
            f"The copy has no {root}. Restore it to a moment before the deletion.", code="record_not_in_copy"
        )
    with connection.cursor() as cursor:
        cursor.execute(statement)
        if cursor.fetchone():
            raise Conflict(
                f"{root} exists in the live database; only what was deleted can come back. {NOTHING}",
                code="record_exists",
            )


def _write_rows(
    source: psycopg.Connection, selections: Sequence[Selection], say: Callable[[str], None]
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
    for selection in selections:
        say(f"Copying {selection.count:,} rows of {selection.model._meta.db_table}")
        with _explain_refusals(), connection.cursor() as cursor:
            cursor.execute(COLUMNS, [selection.model._meta.db_table])
            columns = sql.SQL(", ").join(sql.Identifier(name) for (name,) in cursor.fetchall())
            _stream(source, cursor, selection, columns)
    say("Checking what the rows refer to")
    with _explain_refusals(), connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _stream(source: psycopg.Connection, cursor: Any, selection: Selection, columns: sql.Composed) -> None:
    copy_out = sql.SQL("COPY (SELECT {} FROM {} WHERE ctid IN (SELECT place FROM {})) TO STDOUT")
    write = sql.SQL("COPY {} ({}) FROM STDIN").format(selection.table, columns)
    with (
        source.cursor() as reader,
        reader.copy(copy_out.format(columns, selection.table, selection.rows)) as rows,
        cursor.copy(write) as target,
    ):
        for block in rows:
            target.write(block)
    # What follows in this transaction would be planned for the table as it was before.
    connection.connection.execute(sql.SQL("ANALYZE {}").format(selection.table))


@contextmanager
def _explain_refusals() -> Iterator[None]:
    """Says which row is in the way, or is missing, and what to do."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        diagnosis = error.__cause__.diag if isinstance(error.__cause__, psycopg.Error) else None
        detail = (diagnosis and diagnosis.message_detail) or str(error)
        table = (diagnosis and diagnosis.table_name) or "a table"
        if isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
            advice = "That row was deleted, too: name it in the same command, as a further MODEL FIELD=VALUE."
        else:
            advice = "A row made since then is in the way: change or delete it, then repeat."
        raise Conflict(f"{table}: {detail} {advice} {NOTHING}", code="rows_do_not_fit") from error


def _missing_files(names: set[str], say: Callable[[str], None]) -> list[str]:
    with storage_errors():
        missing = sorted(name for name in names if not default_storage.exists(name))
    say(f"The rows name {len(names):,} files; {len(missing):,} of them are missing")
    return missing


@contextmanager
def _restored_files() -> Iterator[list[str]]:
    """Yields a list for their names. After a failure those that no row names are removed again."""
    restored: list[str] = []
    try:
        yield restored
    except BaseException:
        # A commit whose answer was lost may have succeeded.
        unnamed = set(restored) - set(named_files())
        for remove_unnamed in offered_values("operations", "remove_unnamed"):
            remove_unnamed(unnamed)
        raise


def _restore_files(missing: Sequence[str], folder: Path | None, without_files: bool) -> None:
    with storage_errors():
        lost = restore_missing(missing, folder)
    if lost and not without_files:
        where = f"nor, as it was backed up, in {folder}" if folder else "nor among the versions of a bucket"
        raise Unprocessable(
            f"{len(lost)} files are neither in the storage {where}, such as {lost[0]}. Name the folder of a backup "
            f"made before they were removed with --files, or give them up with --without-files. {NOTHING}",
            code="files_missing",
        )
