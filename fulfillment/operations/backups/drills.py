"""A drill: the newest backup is restored into a scratch database and checked, and nothing of it stays."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from django.db import connection
from django.db.utils import ProgrammingError
from django.utils import timezone
from psycopg import errors, sql

from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.errors import Conflict, Unprocessable
from fulfillment.models import BackupDrill
from fulfillment.operations.backups.manifest import MANIFEST, Manifest, check_backup, read_manifest
from fulfillment.operations.backups.restoring import restore_database
from fulfillment.operations.secret_rotation import settings_that_do_not_fit

# A drill of an old backup would hide that no new ones are made.
OLDEST = timedelta(hours=48)
# The comment of a scratch database: a killed drill leaves it, and one without it is not removed.
SCRATCH = "The scratch database of a backup drill"
# It takes no connections until it has the comment: one without both is empty and of a drill that was killed.
CREATE = "CREATE DATABASE {} TEMPLATE template0 ALLOW_CONNECTIONS false CONNECTION LIMIT 0"
MARK = "COMMENT ON DATABASE {} IS {}"
OPEN = "ALTER DATABASE {} WITH ALLOW_CONNECTIONS true CONNECTION LIMIT -1"
IS_SCRATCH = """
SELECT 1 FROM pg_database WHERE datname = %s
AND (shobj_description(oid, 'pg_database') = %s OR (NOT datallowconn AND datconnlimit = 0))
"""


def run_drill(*, folder: Path, on_progress: Callable[[str], None] = lambda line: None) -> Manifest:
    """Restores the newest backup in the folder as a test. Raises Unprocessable with the reason if that fails."""
    with exclusive_job("A drill"):
        backup, manifest = _find_newest(folder)
        made_at = datetime.fromisoformat(manifest.created)
        on_progress(f"Checking {backup}, made {made_at:%Y-%m-%d %H:%M} UTC")
        check_backup(backup, manifest)
        with _scratch_database() as name:
            on_progress(f"Restoring it into the database {name}")
            restore_database(backup, manifest)
            if names := settings_that_do_not_fit():
                raise Unprocessable(
                    f"The keys in the backup do not fit {' and '.join(names)} of this installation. Find the values "
                    "that it was made with: with others, no client can sign in after a restore.",
                    code="secrets_differ",
                )
        BackupDrill.objects.update_or_create(
            pk=1, defaults={"passed": timezone.now(), "backup_made": made_at}
        )
    return manifest


def _find_newest(folder: Path) -> tuple[Path, Manifest]:
    backups = [(path.parent, read_manifest(path.parent)) for path in folder.glob(f"*/{MANIFEST}")]
    if not backups:
        raise Unprocessable(
            f"{folder} contains no backup; look at the log of fulfillment-backup.service.", code="no_backup"
        )
    backup, manifest = max(backups, key=lambda dated: datetime.fromisoformat(dated[1].created))
    if timezone.now() - datetime.fromisoformat(manifest.created) > OLDEST:
        raise Unprocessable(
            f"The newest backup, {backup}, is of {manifest.created}: no new ones are made. Look at the log of "
            "fulfillment-backup.service.",
            code="backup_old",
        )
    return backup, manifest


@contextmanager
def _scratch_database() -> Iterator[str]:
    """Leads this process's connection to an empty database beside the live one."""
    live = connection.settings_dict["NAME"]
    name = f"{live}_drill"
    _drop(name)
    try:
        with connection.cursor() as cursor:
            for statement in (CREATE, MARK, OPEN):
                cursor.execute(sql.SQL(statement).format(sql.Identifier(name), SCRATCH))
    except ProgrammingError as error:
        if isinstance(error.__cause__, errors.DuplicateDatabase):
            raise Conflict(
                f"A database {name} exists that no drill created. Rename or remove it.",
                code="database_exists",
            ) from error
        role = connection.settings_dict["USER"] or "of the service"
        raise Unprocessable(
            f"The database {name} cannot be created: {error} Allow the role to create databases, as postgres: "
            f"psql -c 'ALTER ROLE \"{role}\" CREATEDB'",
            code="no_scratch_database",
        ) from error
    try:
        _connect_to(name)
        yield name
    finally:
        _connect_to(live)
        _drop(name)


def _connect_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name


def _drop(name: str) -> None:
    with connection.cursor() as cursor:
        # For the session, because DROP DATABASE runs in no transaction.
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(IS_SCRATCH, [name, SCRATCH])
        if cursor.fetchone():
            cursor.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
