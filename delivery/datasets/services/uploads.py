"""Files uploaded in the browser: stored, previewed, then imported by a separate process."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from delivery.datasets.models import ImportRun, ImportState
from delivery.datasets.services.importer import ImportOptions, Preview, preview_file
from delivery.datasets.services.imports import Outcome, import_file
from fulfillment.core.concurrency_limits import FILES
from fulfillment.core.errors import Conflict, NotFound
from fulfillment.core.files.storage import storage_errors


def receive_upload(*, upload: UploadedFile, by: str) -> ImportRun:
    """Stores an uploaded file until it is imported or discarded."""
    run = ImportRun(file_name=(upload.name or "upload")[:255], created_by=by)
    # A unique name, because the storage overwrites files of the same name.
    with storage_errors():
        run.upload.save(uuid.uuid4().hex, upload, save=False)
    try:
        run.save()
    except BaseException:
        run.upload.delete(save=False)
        raise
    return run


def preview_upload(*, run: ImportRun, options: ImportOptions, by: str = "") -> Preview:
    """`by` is the user whose concurrency limit counts it."""
    with FILES.limited(by and f"user:{by}"), _local_copy(run) as path:
        return preview_file(path=path, name=run.file_name, options=options)


def start_import(*, run: ImportRun, options: ImportOptions) -> None:
    """Imports an uploaded file in a separate process, which outlives the request."""
    claimed = ImportRun.objects.filter(pk=run.pk, state=ImportState.UPLOADED).update(
        state=ImportState.WAITING, options=options.as_json(), error="", updated=timezone.now()
    )
    if not claimed:
        raise Conflict("This file was already imported.", code="import_started")
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


def import_upload(*, run_id: int) -> Outcome:
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
        raise Conflict("This file was already imported.", code="import_started")
    run.upload.delete(save=False)
    run.delete()


@contextmanager
def _local_copy(run: ImportRun) -> Iterator[Path]:
    """A local copy, because the file storage may be remote."""
    with tempfile.NamedTemporaryFile() as local, run.upload.open() as upload:
        shutil.copyfileobj(upload, local)
        local.flush()
        yield Path(local.name)


def _set_state(run: ImportRun, state: ImportState, error: str) -> None:
    ImportRun.objects.filter(pk=run.pk).update(state=state, error=error)
