"""Loads a file as a new data set. One import at a time; a killed one leaves only its record.

Files uploaded in the browser are stored, previewed, then imported by a separate process.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.files import File
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from delivery.datasets.models import Dataset, ImportProblem, ImportRun, ImportState
from delivery.datasets.problems import PROBLEM_HEADER, ProblemLog
from delivery.datasets.services.datasets import activate_dataset, lock_live_dataset, store_populations
from delivery.datasets.services.importer import ImportOptions, ParsedFile, Preview, preview_file, read_file
from delivery.datasets.services.locking import ProgressLine, hold_import_lock, mark_interrupted_imports
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import Conflict, DomainError, NotFound
from fulfillment.core.files.storage import stored_upload

Listener = Callable[[str, float], None]


@dataclass(frozen=True)
class ImportOutcome:
    """The result of an import or of a trial run, which has no `dataset`."""

    reading: ParsedFile
    dataset: Dataset | None = None
    run: ImportRun | None = None


def try_file(
    *,
    path: Path,
    name: str,
    options: ImportOptions,
    problems: IO[str] | None = None,
    on_progress: Listener = lambda phase, share: None,
) -> ImportOutcome:
    """Reads and validates a file as an import would; writes nothing."""
    log = ProblemLog(problems)
    reading = read_file(
        path=path,
        name=name,
        options=options,
        log=log,
        progress=lambda phase, share, log, rows: on_progress(phase, share),
    )
    return ImportOutcome(reading)


def import_file(
    *,
    path: Path,
    name: str,
    options: ImportOptions,
    by: str,
    run: ImportRun | None = None,
    on_progress: Listener = lambda phase, share: None,
) -> ImportOutcome:
    """Raises `Conflict` while another import runs. Concerns leave the data set waiting to be activated."""
    with hold_import_lock() as apart:
        mark_interrupted_imports()
        run = run or ImportRun(file_name=name[:255], created_by=by)
        run.state, run.options, run.phase = ImportState.RUNNING, asdict(options), "reading"
        run.updated = timezone.now()
        run.save()
        line = ProgressLine(apart, run.pk, on_progress)
        with _problem_file() as problems:
            log = ProblemLog(problems)
            try:
                reading = read_file(
                    path=path, name=name, options=options, log=log, by=by, progress=line.reading
                )
                dataset = _store_dataset(run, reading, options, line)
            except BaseException as error:
                _fail_run(run, log, error, problems)
                raise
            _finish_run(run, reading, dataset, problems)
        on_progress("done", 1.0)
    return ImportOutcome(reading, dataset, run)


@long_transaction()
def _store_dataset(
    run: ImportRun, reading: ParsedFile, options: ImportOptions, line: ProgressLine
) -> Dataset:
    live = lock_live_dataset()
    if reading.unchanged and live.dataset_id != reading.unchanged.dataset_id:
        raise Conflict(
            "Another data set was activated in the meantime; merge the file again.", code="live_changed"
        )
    dataset = store_populations(
        populations=reading.populations,
        totals=reading.totals,
        route_types=options.route_types,
        origin=reading.origin,
        concerns=reading.concerns,
        details=reading.details,
        unchanged=reading.unchanged,
        progress=line.writing,
    )
    if options.activate and (options.force or not reading.concerns):
        dataset = activate_dataset(dataset_id=dataset.pk, by=run.created_by, despite_concerns=True)
    return dataset


@contextmanager
def _problem_file() -> Iterator[IO[str]]:
    with tempfile.NamedTemporaryFile("w+", encoding="utf-8", newline="", suffix=".csv") as problems:
        problems.write(PROBLEM_HEADER)
        yield problems


def _finish_run(run: ImportRun, reading: ParsedFile, dataset: Dataset, problems: IO[str]) -> None:
    run.state, run.phase, run.percent = ImportState.LOADED, "done", 100
    run.dataset, run.row_count, run.notes = dataset, reading.rows, reading.notes
    _record_problems(run, reading.log, problems)


def _fail_run(run: ImportRun, log: ProblemLog, error: BaseException, problems: IO[str]) -> None:
    run.state = ImportState.FAILED
    if isinstance(error, DomainError):
        run.error = error.message
    elif isinstance(error, KeyboardInterrupt | SystemExit):
        run.error = "The import was stopped."
    else:
        run.error = f"Unexpected error: {type(error).__name__}. The log has the details."
    _record_problems(run, log, problems)


@transaction.atomic
def _record_problems(run: ImportRun, log: ProblemLog, problems: IO[str]) -> None:
    run.reject_count, run.warning_count = log.rejects, log.warnings
    run.problem_counts = dict(log.counts)
    run.finished = run.updated = timezone.now()
    if log.counts:
        problems.flush()
        with Path(problems.name).open("rb") as content:
            run.problem_file.save(f"import-{run.pk}.csv", File(content), save=False)
    run.save()
    ImportProblem.objects.bulk_create(
        (
            ImportProblem(import_run=run, line=line, column=column, value=value, code=code)
            for line, column, value, code in log.listed
        ),
        batch_size=500,
    )
    if run.upload:
        run.upload.delete(save=True)


def receive_upload(*, upload: UploadedFile, by: str) -> ImportRun:
    """Stores an uploaded file until it is imported or discarded."""
    run = ImportRun(file_name=(upload.name or "upload")[:255], created_by=by)
    with stored_upload(run, upload):
        run.save()
    return run


def preview_upload(*, run: ImportRun, options: ImportOptions, by: str = "") -> Preview:
    """`by` is the user whose concurrency limit counts it."""
    with FILES.slot(by and f"user:{by}"), _local_copy(run) as path:
        return preview_file(path=path, name=run.file_name, options=options)


def start_import(*, run: ImportRun, options: ImportOptions) -> None:
    """Imports an uploaded file in a separate process, which outlives the request."""
    claimed = ImportRun.objects.filter(pk=run.pk, state=ImportState.UPLOADED).update(
        state=ImportState.WAITING, options=asdict(options), error="", updated=timezone.now()
    )
    if not claimed:
        raise _already_imported()
    environment = dict(os.environ)
    if settings.DATABASE_URL:
        environment["DATABASE_URL"] = settings.DATABASE_URL
    process = subprocess.Popen(  # noqa: S603 - our own command, and a number
        [sys.executable, "-m", "django", "import_eddm", "--run", str(run.pk)],
        cwd=settings.BASE_DIR,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Waited for in a thread: otherwise the child would stay in the process table.
    threading.Thread(target=process.wait, daemon=True).start()


def import_upload(*, run_id: int) -> ImportOutcome:
    """Runs in the process of `start_import`. While another import runs, the upload waits again."""
    run = ImportRun.objects.filter(pk=run_id).exclude(upload="").first()
    if run is None:
        raise NotFound(f"There is no upload {run_id}.", code="upload_unknown")
    try:
        with _local_copy(run) as path:
            options = ImportOptions(**run.options)
            return import_file(path=path, name=run.file_name, options=options, by=run.created_by, run=run)
    except Conflict as error:
        _set_state(run, ImportState.UPLOADED, error.message)
        raise
    except OSError as error:
        _set_state(run, ImportState.FAILED, f"The upload cannot be read: {error.strerror}.")
        raise


def discard_upload(*, run: ImportRun) -> None:
    if run.state != ImportState.UPLOADED:
        raise _already_imported()
    run.upload.delete(save=False)
    run.delete()


def _already_imported() -> Conflict:
    return Conflict("This file was already imported.", code="import_started")


@contextmanager
def _local_copy(run: ImportRun) -> Iterator[Path]:
    """A local copy, because the file storage may be remote."""
    with tempfile.NamedTemporaryFile() as local, run.upload.open() as upload:
        shutil.copyfileobj(upload, local)
        local.flush()
        yield Path(local.name)


def _set_state(run: ImportRun, state: ImportState, error: str) -> None:
    ImportRun.objects.filter(pk=run.pk).update(state=state, error=error)
