"""Makes a backup: one snapshot of the database, and the files that its rows name."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connection, transaction
from django.utils import timezone
from psycopg import sql

from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.errors import Conflict, Unprocessable
from fulfillment.core.files.storage import DISK_FULL, storage_errors, stored_names
from fulfillment.core.plugins import offered_values
from fulfillment.operations.backups.manifest import (
    DUMP,
    FILE_LIST,
    FILES,
    Content,
    Manifest,
    hash_file,
    write_contents,
)
from fulfillment.operations.backups.programs import run_program

CHUNK = 1 << 20


def make_backup(*, folder: Path, on_progress: Callable[[str], None] = lambda line: None) -> Manifest:
    """Writes into a folder beside `folder`, which appears when it is whole.

    Raises Conflict when `folder` is there already, or while something is pruned or another backup is made.
    """
    if folder.exists():
        raise Conflict(f"{folder} already exists; name a new folder.", code="folder_exists")
    _refuse_among_files(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for work in ("A backup", "Pruning"):
            stack.enter_context(exclusive_job(work))
        part = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
        stack.callback(shutil.rmtree, part, ignore_errors=True)
        manifest = _fill(part, on_progress)
        _sync(part)
        part.rename(folder)
        _sync(folder.parent)
    return manifest


def _refuse_among_files(folder: Path) -> None:
    """Refuses a target inside the file storage: the backup would copy itself."""
    if isinstance(default_storage, FileSystemStorage):
        storage_folder = Path(default_storage.path("")).resolve()
        if folder.resolve().is_relative_to(storage_folder):
            raise Conflict(
                f"{folder} is in {storage_folder}, which the backup copies; name another.",
                code="folder_inside",
            )


def _fill(part: Path, on_progress: Callable[[str], None]) -> Manifest:
    with _take_snapshot() as (snapshot, tables, file_names):
        on_progress("Dumping the database")
        run_program(
            "pg_dump",
            "--format=custom",
            "--no-owner",
            "--no-privileges",
            f"--snapshot={snapshot}",
            f"--file={part / DUMP}",
        )
    on_progress("Copying the files")
    copied: set[str] = set()
    with storage_errors():
        count, size = write_contents(part, _copy_files(part, copied))
    manifest = Manifest(
        created=timezone.now().isoformat(),
        postgresql=connection.pg_version,  # type: ignore[attr-defined]
        dump_sha256=hash_file(part / DUMP),
        list_sha256=hash_file(part / FILE_LIST),
        file_count=count,
        file_bytes=size,
        tables=tables,
        absent=sorted(file_names - copied),
    )
    manifest.write(part)
    return manifest


@contextmanager
def _take_snapshot() -> Iterator[tuple[str, dict[str, int], set[str]]]:
    """Yields a snapshot shared with pg_dump: its name, row counts of the tables, and the named files."""
    with transaction.atomic(durable=not connection.in_atomic_block), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        cursor.execute("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute("SELECT pg_export_snapshot()")
        name: str = cursor.fetchone()[0]
        yield name, count_rows(), set(named_files())


def count_rows() -> dict[str, int]:
    """The number of rows of each table, however long it takes to count them."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        names = sorted(
            table.name for table in connection.introspection.get_table_list(cursor) if table.type == "t"
        )
        counts = {}
        for name in names:
            cursor.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(name)))
            counts[name] = cursor.fetchone()[0]
    return counts


def _copy_files(part: Path, names: set[str]) -> Iterator[Content]:
    for name in stored_names(default_storage):
        if content := _copy(name, part / FILES / name):
            names.add(name)
            yield content


def _copy(name: str, target: Path) -> Content | None:
    """Copies a file; None if it was removed in the meantime."""
    target.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    try:
        with default_storage.open(name) as source, target.open("wb") as copy:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                copy.write(chunk)
            copy.flush()
            os.fsync(copy.fileno())
    except FileNotFoundError:
        target.unlink(missing_ok=True)
        return None
    except OSError as error:
        if error.errno in DISK_FULL:
            raise Unprocessable("The folder of the backup has no room left.", code="no_room") from error
        raise
    return Content(name, size, digest.hexdigest())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def named_files() -> Iterator[str]:
    """The stored files that rows of all apps name."""
    for named_files in offered_values("operations", "named_files"):
        yield from named_files()
