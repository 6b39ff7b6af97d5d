"""The import lock, which ends with its process, and the progress of the running import."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from delivery.datasets.models import ImportRun, ImportState
from delivery.datasets.problems import ProblemLog
from delivery.datasets.selectors import IMPORT_LOCK, is_import_running
from fulfillment.core.db.locks import lock_of_its_own
from fulfillment.core.errors import Conflict

EVERY_SECONDS = 0.25
START_ALLOWED = timedelta(seconds=60)
# The share of each phase in the total time, measured with a national file.
READING_SHARE = 0.6
INTERRUPTED = "The import was interrupted, and nothing was loaded."


@contextmanager
def hold_import_lock() -> Iterator[BaseDatabaseWrapper]:
    """Yields a connection that shows progress, apart from the transaction that loads."""
    with lock_of_its_own(IMPORT_LOCK) as is_ours:
        if not is_ours:
            raise Conflict(_what_runs(), code="import_running")
        apart = connection.copy()
        try:
            yield apart
        finally:
            apart.close()


def mark_interrupted_imports() -> None:
    """Marks other running imports as interrupted; call it only with the lock, which proves they were killed."""
    _mark(ImportState.RUNNING, INTERRUPTED)


def end_interrupted_imports() -> None:
    """Marks imports whose process has ended; called by pages that show progress."""
    if not is_import_running():
        _mark(ImportState.RUNNING, INTERRUPTED, seconds=5)
    _mark(
        ImportState.WAITING,
        "The import did not start; the log of the service has the reason.",
        seconds=START_ALLOWED.total_seconds(),
    )


def _mark(state: ImportState, error: str, seconds: float = 0) -> None:
    before = timezone.now() - timedelta(seconds=seconds)
    ImportRun.objects.filter(state=state, updated__lte=before).update(
        state=ImportState.FAILED, error=error, finished=timezone.now()
    )


def _what_runs() -> str:
    run = ImportRun.objects.filter(state=ImportState.RUNNING).first()
    if run is None:
        return "Another import is just starting or ending; try again in a moment."
    who = f", started by {run.created_by}" if run.created_by else ""
    return f"Import {run.pk} of {run.file_name} is running{who}: {run.phase}, {run.percent}%."


class ProgressLine:
    """Writes phase and share to the import's record, four times a second at most."""

    def __init__(
        self, apart: BaseDatabaseWrapper, run_id: int, on_progress: Callable[[str, float], None]
    ) -> None:
        self.apart, self.run_id, self.on_progress = apart, run_id, on_progress
        self.next = 0.0

    def reading(self, phase: str, share: float, log: ProblemLog, rows: int) -> None:
        self._show(phase, share * READING_SHARE, rows=rows, rejects=log.rejects)

    def writing(self, share: float) -> None:
        self._show("writing", READING_SHARE + share * (0.98 - READING_SHARE))

    def _show(self, phase: str, share: float, rows: int | None = None, rejects: int | None = None) -> None:
        self.on_progress(phase, share)
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + EVERY_SECONDS
        with self.apart.cursor() as cursor:
            cursor.execute(
                "UPDATE delivery_importrun SET phase = %s, percent = %s, updated = now(),"
                " row_count = coalesce(%s, row_count), reject_count = coalesce(%s, reject_count)"
                " WHERE id = %s",
                [phase, int(share * 100), rows, rejects, self.run_id],
            )
