"""Restores a backup into the database and the file storage, and refuses an interrupted restore."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader

from fulfillment.core.db.first_migrations import is_older_than_first_release
from fulfillment.core.db.locks import LOCK_CONNECTION, exclusive_job
from fulfillment.core.db.prepared import ASIDE
from fulfillment.core.errors import Conflict, Unprocessable
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.plugins import offered_values
from fulfillment.operations.backups.making import count_rows
from fulfillment.operations.backups.manifest import (
    DUMP,
    FILES,
    Manifest,
    check_backup,
    read_contents,
    read_manifest,
)
from fulfillment.operations.backups.programs import find_program, run_program


def restore_backup(
    *, folder: Path, force: bool = False, on_progress: Callable[[str], None] = lambda line: None
) -> Manifest:
    """Puts files and database back, compares the number of rows of every table, and skips numbers given since.

    Raises Conflict when the database holds tables already, unless `force`, or while the service uses it. Until the
    last moment the old tables stay aside: they come back after any failure, and after a kill with the next restore.
    """
    manifest = read_manifest(folder)
    with exclusive_job("A backup"):
        if not _is_interrupted():
            _refuse_unless_empty(force)
        _refuse_other_connections()
        find_program("pg_restore")
        on_progress("Checking the backup")
        check_backup(folder, manifest)
        _put_back_interrupted()
        _refuse_unless_empty(force)
        on_progress(f"Restoring {manifest.file_count} files")
        with storage_errors():
            _restore_files(folder)
        on_progress("Restoring the database")
        with _old_tables_aside():
            restore_database(folder, manifest)
            for line in skip_used_numbers():
                on_progress(line)
    return manifest


def skip_used_numbers() -> list[str]:
    """Skips numbers that were given after the moment to which the database went back; returns what was done."""
    return [line for skip in offered_values("operations", "skip_used_numbers") for line in skip()]


def restore_database(folder: Path, manifest: Manifest) -> None:
    """Into an empty schema; compares the number of rows of every table."""
    run_program("pg_restore", "--single-transaction", "--no-owner", "--no-privileges", str(folder / DUMP))
    _compare(manifest)
    _refuse_other_releases()


def refuse_interrupted_restore() -> None:
    """Runs when web and worker start, and before `prepare` and `backup`: the tables are aside, few are in place.

    A database that is away stops no start: the service waits for it.
    """
    was_closed = connection.connection is None
    try:
        is_interrupted = _is_interrupted()
    except Error:
        return
    finally:
        if was_closed:
            connection.close()
    if is_interrupted:
        raise ImproperlyConfigured("A restore was interrupted, or is still running. Run `restore` again.")


def _is_interrupted() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [ASIDE])
        return cursor.fetchone() is not None


def _refuse_unless_empty(force: bool) -> None:
    if not force and count_rows():
        raise Conflict(
            "The database is not empty. With --force everything in it is replaced by the backup.",
            code="database_not_empty",
        )


def _refuse_other_connections() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND application_name <> %s",
            [LOCK_CONNECTION],
        )
        count = cursor.fetchone()[0]
    if count:
        raise Conflict(
            f"{count} other connections use the database; stop the service and its workers first.",
            code="database_in_use",
        )


def _restore_files(folder: Path) -> None:
    for content in read_contents(folder):
        with (folder / FILES / content.name).open("rb") as source:
            name = default_storage.save(content.name, File(source, name=content.name))
        if name != content.name:
            raise Unprocessable(
                f"The storage made {name} of {content.name}: it may not overwrite.", code="storage_renames"
            )


@contextmanager
def _old_tables_aside() -> Iterator[None]:
    _run(f"ALTER SCHEMA public RENAME TO {ASIDE}", "CREATE SCHEMA public")
    try:
        yield
    except BaseException:
        # PostgreSQL ends a statement that still runs on it.
        connection.close()
        _put_back_interrupted()
        raise
    _run(f"DROP SCHEMA {ASIDE} CASCADE")


def _put_back_interrupted() -> None:
    if _is_interrupted():
        # A pg_restore that was ended may still build an index there.
        wait = "SET LOCAL lock_timeout = 0"
        _run(wait, "DROP SCHEMA IF EXISTS public CASCADE", f"ALTER SCHEMA {ASIDE} RENAME TO public")


def _run(*statements: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("; ".join(["BEGIN", "SET LOCAL statement_timeout = 0", *statements, "COMMIT"]))


def _compare(manifest: Manifest) -> None:
    counts = count_rows()
    differences = [
        name for name in counts.keys() | manifest.tables if counts.get(name) != manifest.tables.get(name)
    ]
    if differences:
        raise Unprocessable(
            f"The restored tables have other numbers of rows than the backup: {', '.join(sorted(differences))}.",
            code="restore_differs",
        )


def _refuse_other_releases() -> None:
    """Refuses backups of newer releases; those of older ones are migrated."""
    if is_older_than_first_release(connection):
        raise Unprocessable(
            "The backup was made before release 0.1.0; no later release can use it.", code="backup_too_old"
        )
    loader = MigrationLoader(connection)
    last: dict[str, str] = {}
    for app, name in loader.disk_migrations:
        last[app] = max(name, last.get(app, ""))
    newer = sorted(f"{app}.{name}" for app, name in loader.applied_migrations if name > last.get(app, name))
    if newer:
        raise Unprocessable(
            f"The backup is of a newer release, with {', '.join(newer)}; restore it with that release.",
            code="backup_newer",
        )
