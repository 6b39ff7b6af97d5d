"""Catalog files uploaded in the browser: stored, checked by a worker, and imported when a user confirms."""

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pghistory
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.models import User
from fulfillment.core.audit.retention import RetentionRule, remove_each
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.errors import Conflict, DomainError, Invalid
from fulfillment.core.files.storage import storage_errors, stored_upload
from stores.catalog.catalog_file.reader import CatalogSource
from stores.catalog.models import CatalogUpload, CatalogUploadState, Store, StoreUsage
from stores.catalog.services.imports import CatalogInvalid, import_catalog

TASK = "stores.work_on_catalog_upload"
UPLOAD_BYTES = 512 * 1024 * 1024
UNPACKED_BYTES = 4 * 1024 * 1024 * 1024
FAULTS_SHOWN = 200
PROGRESS_SECONDS = 0.25
CHANGED = "The catalog changed since the check, so nothing was imported. Look at the changes again."

State = CatalogUploadState
WORKING_STATES = {State.WAITING: State.CHECKING, State.QUEUED: State.IMPORTING}
# The next worker repeats what a killed worker had begun: its transaction was rolled back.
WAITING_STATES = {
    **{state: state for state in WORKING_STATES},
    **{working: state for state, working in WORKING_STATES.items()},
}
DISCARDABLE = (State.WAITING, State.CHECKED, State.REFUSED, State.FAILED)
USAGE_KEPT = timedelta(days=400)


def receive_catalog_upload(*, upload: UploadedFile, by: User, store: Store | None = None) -> CatalogUpload:
    """Stores the file and queues its check. With `store` the file may contain no other store."""
    size = upload.size or 0
    if not size:
        raise Invalid.at("", "empty", "The file is empty.")
    if size > UPLOAD_BYTES:
        message = (
            f"The file has {size:,} bytes; at most {UPLOAD_BYTES:,} are accepted here. "
            "`manage.py import_catalog` accepts files of any size."
        )
        raise Invalid.at("", "too_large", message)
    created = CatalogUpload(file_name=(upload.name or "upload")[:255], size=size, store=store, created_by=by)
    with stored_upload(created, upload), transaction.atomic():
        created.save()
        _queue_upload(created)
    return created


@transaction.atomic
def start_catalog_import(*, upload: CatalogUpload, by: User) -> None:
    """Queues the import of a checked file. Raises Conflict if it is not checked, or already queued."""
    _change_state(upload, (State.CHECKED,), State.QUEUED, imported_by=by)
    _queue_upload(upload)


@transaction.atomic
def check_catalog_again(*, upload: CatalogUpload) -> None:
    _change_state(upload, (State.CHECKED, State.REFUSED, State.FAILED), State.WAITING)
    _queue_upload(upload)


@transaction.atomic
def discard_catalog_upload(*, upload: CatalogUpload) -> None:
    locked = CatalogUpload.objects.select_for_update().filter(pk=upload.pk, state__in=DISCARDABLE).first()
    if locked is None:
        raise _already_started()
    name, storage = locked.upload.name, locked.upload.storage
    locked.delete()
    if name:
        transaction.on_commit(lambda: storage.delete(name))


def work_on_catalog_upload(*, upload_id: int) -> None:
    """Checks or imports a waiting file; runs in a worker.

    Raises Conflict while another import runs; the upload stays queued, and the job is retried.
    """
    uploads = CatalogUpload.objects.select_related("store", "created_by", "imported_by")
    upload = uploads.filter(pk=upload_id, state__in=WAITING_STATES).first()
    if upload is None:
        return
    waiting = WAITING_STATES[State(upload.state)]
    _change_state(upload, (waiting, WORKING_STATES[waiting]), WORKING_STATES[waiting])
    try:
        _import_upload(upload, is_import=waiting == State.QUEUED)
    except CatalogInvalid as error:
        shown = error.faults[:FAULTS_SHOWN]
        faults = [[_make_storable(fault.pointer or "/"), _make_storable(fault.message)] for fault in shown]
        _finish_upload(upload, State.REFUSED, faults=faults, fault_count=error.fault_count)
    except Conflict as error:
        # What a check showed is still what was confirmed.
        _finish_upload(upload, waiting, error=error.message, summary=upload.summary)
        raise
    except DomainError as error:
        _finish_upload(upload, State.FAILED, error=error.message)
    except OSError as error:
        _finish_upload(upload, State.FAILED, error=f"The file cannot be read: {error.strerror or error}.")
    except Exception:
        _finish_upload(
            upload,
            State.FAILED,
            error="An internal error occurred; the log has the details. Nothing was imported.",
        )
        raise


def _import_upload(upload: CatalogUpload, *, is_import: bool) -> None:
    by = upload.imported_by if is_import else upload.created_by
    context = {"user": str(by.pk)} if by else {}
    progress = _Progress(upload)
    try:
        with upload.upload.open() as file, pghistory.context(**context), long_transaction():
            source = CatalogSource(file, on_progress=progress.show, maximum=UNPACKED_BYTES)
            only = upload.store.external_id if upload.store else None
            summary = import_catalog(source=source, dry_run=not is_import, only_store=only)
            record = json.loads(json.dumps(asdict(summary)))
            is_as_seen = not is_import or upload.summary in ({}, record)
            if is_as_seen:
                # In the transaction of the import, so that a crash cannot separate the two.
                final_state = State.IMPORTED if is_import else State.CHECKED
                _finish_upload(upload, final_state, summary=record, percent=100)
            else:
                transaction.set_rollback(True)
        if not is_as_seen:
            _finish_upload(upload, State.CHECKED, summary=record, percent=100, error=CHANGED)
    finally:
        progress.close()


def _queue_upload(upload: CatalogUpload) -> None:
    app.configure_task(TASK, lock=TASK).defer(upload_id=upload.pk)


def _change_state(upload: CatalogUpload, before: tuple[State, ...], after: State, **values: Any) -> None:
    """Changes the state once; a second caller at the same time gets Conflict."""
    rows = CatalogUpload.objects.filter(pk=upload.pk, state__in=before)
    reset = {"percent": 0, "error": "", "finished": None, "updated": timezone.now()}
    if not rows.update(state=after, **{**reset, **values}):
        raise _already_started()
    upload.state = after


def _finish_upload(upload: CatalogUpload, state: State, **values: Any) -> None:
    now = timezone.now()
    report = {"summary": {}, "faults": [], "fault_count": 0, "error": "", **values}
    CatalogUpload.objects.filter(pk=upload.pk).update(state=state, finished=now, updated=now, **report)


def _make_storable(text: str) -> str:
    """Replaces what PostgreSQL cannot store: member names come from the file."""
    return text.replace("\0", "\N{SYMBOL FOR NULL}").encode(errors="replace").decode()


class _Progress:
    """Stores the progress, at most four times a second, on a connection outside of the import's transaction."""

    def __init__(self, upload: CatalogUpload) -> None:
        self.upload = upload
        self.connection = connection.copy()
        self.next_update = 0.0

    def show(self, position: int) -> None:
        if time.monotonic() < self.next_update:
            return
        self.next_update = time.monotonic() + PROGRESS_SECONDS
        with self.connection.cursor() as cursor:
            cursor.execute(
                "UPDATE stores_catalogupload SET percent = %s, updated = now() WHERE id = %s",
                [min(99, position * 100 // max(1, self.upload.size)), self.upload.pk],
            )

    def close(self) -> None:
        self.connection.close()


def retention_rules() -> list[RetentionRule]:
    return [
        RetentionRule("files of old catalog imports", lambda: _old_uploads().count(), _remove_uploads),
        RetentionRule("calls by store", lambda: _old_usage().count(), _remove_usage),
    ]


def _old_usage() -> QuerySet[StoreUsage]:
    return StoreUsage.objects.filter(day__lt=(timezone.now() - USAGE_KEPT).date())


def _remove_usage(batch: int) -> Iterator[int]:
    """Deletes day by day; a day has at most one row for each store."""
    for day in _old_usage().order_by("day").values_list("day", flat=True).distinct():
        yield StoreUsage.objects.filter(day=day).delete()[0]


def _already_started() -> Conflict:
    return Conflict("This file is being processed, or was already imported.", code="import_started")


def _old_uploads() -> QuerySet[CatalogUpload]:
    before = timezone.now() - timedelta(days=settings.IMPORT_RETENTION_DAYS)
    old = CatalogUpload.objects.filter(updated__lt=before).exclude(upload="")
    return old.exclude(state__in=WAITING_STATES)


def _remove_uploads(batch: int) -> Iterator[int]:
    """Deletes the files; the records of the imports stay."""
    yield from remove_each(list(_old_uploads().values_list("pk", flat=True)), _empty_upload)


@transaction.atomic
def _empty_upload(key: int) -> bool:
    upload = _old_uploads().select_for_update(skip_locked=True).filter(pk=key).first()
    if upload is None:
        return False
    with storage_errors():
        upload.upload.delete(save=False)
    upload.save(update_fields=["upload"])
    return True
