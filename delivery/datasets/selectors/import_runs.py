from django.db import connection

from delivery.datasets.models import ImportRun, ImportState

# An arbitrary number that nothing else in the service uses.
IMPORT_LOCK = 5_316_001


def is_import_running() -> bool:
    """Whether a process holds the import lock; the lock of a killed process is released."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))",
            [IMPORT_LOCK],
        )
        return bool(cursor.fetchone()[0])


def running_import() -> ImportRun | None:
    return ImportRun.objects.filter(state=ImportState.RUNNING).first()
