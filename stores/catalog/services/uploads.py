"""Catalog files that come through the browser: kept, checked by a worker, imported by one when somebody says so."""

import time
import uuid
from dataclasses import asdict
from typing import Any

import pghistory
from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.utils import timezone
from procrastinate.contrib.django import app

from accounts.models import User
from fulfillment.core.errors import Conflict, DomainError, Invalid
from fulfillment.core.files.storage import storage_errors
from stores.catalog.models import CatalogUpload, CatalogUploadState, Store
from stores.catalog.services.imports import CatalogInvalid, import_catalog
from stores.catalog.source import CatalogSource

TASK = "stores.work_on_catalog_upload"
UPLOAD_BYTES = 512 * 1024 * 1024
UNPACKED_BYTES = 4 * 1024 * 1024 * 1024
FAULTS_SHOWN = 200
EVERY_SECONDS = 0.25

State = CatalogUploadState
AT_WORK = {State.WAITING: State.CHECKING, State.QUEUED: State.IMPORTING}
# What a killed worker was at is taken up again by the next one: its transaction is gone with it.
BEGUN_BY = {**{state: state for state in AT_WORK}, **{at: state for state, at in AT_WORK.items()}}
DISCARDABLE = (State.WAITING, State.CHECKED, State.REFUSED, State.FAILED)


def receive_catalog_upload(*, upload: UploadedFile, by: User, store: Store | None = None) -> CatalogUpload:
    """Keeps the file and queues its check. With `store` it may hold that store alone."""
    size = upload.size or 0
    if not size:
        raise Invalid.at("", "empty", "The file is empty.")
    if size > UPLOAD_BYTES:
        message = (
            f"The file has {size:,} bytes; at most {UPLOAD_BYTES:,} are taken here. "
            "`manage.py import_catalog` takes files of any size."
        )
        raise Invalid.at("", "too_large", message)
    made = CatalogUpload(file_name=(upload.name or "upload")[:255], size=size, store=store, created_by=by)
    # Under a name of its own: the storage writes over a file of the same name.
    with storage_errors():
        made.upload.save(uuid.uuid4().hex, upload, save=False)
    try:
        with transaction.atomic():
            made.save()
            _queue(made)
    except BaseException:
        made.upload.delete(save=False)
        raise
    return made


@transaction.atomic
def start_catalog_import(*, upload: CatalogUpload, by: User) -> None:
    """Queues the import of a checked file. Raises Conflict when it is not checked, or was started already."""
    _move(upload, (State.CHECKED,), State.QUEUED, imported_by=by)
    _queue(upload)


@transaction.atomic
def check_catalog_again(*, upload: CatalogUpload) -> None:
    _move(upload, (State.CHECKED, State.REFUSED, State.FAILED), State.WAITING)
    _queue(upload)


@transaction.atomic
def discard_catalog_upload(*, upload: CatalogUpload) -> None:
    locked = CatalogUpload.objects.select_for_update().filter(pk=upload.pk, state__in=DISCARDABLE).first()
    if locked is None:
        raise Conflict("This file is being worked on, or was imported already.", code="import_started")
    name, storage = locked.upload.name, locked.upload.storage
    locked.delete()
    if name:
        transaction.on_commit(lambda: storage.delete(name))


def work_on_catalog_upload(*, upload_id: int) -> None:
    """What a worker does: checks a file that waits for it, or imports it.

    Raises Conflict while another import runs; the upload waits on, and the job comes again.
    """
    uploads = CatalogUpload.objects.select_related("store", "created_by", "imported_by")
    upload = uploads.filter(pk=upload_id, state__in=BEGUN_BY).first()
    if upload is None:
        return
    waiting = BEGUN_BY[State(upload.state)]
    _move(upload, (waiting, AT_WORK[waiting]), AT_WORK[waiting])
    try:
        _work(upload, is_import=waiting == State.QUEUED)
    except CatalogInvalid as error:
        shown = error.faults[:FAULTS_SHOWN]
        faults = [[_storable(fault.pointer or "/"), _storable(fault.message)] for fault in shown]
        _finish(upload, State.REFUSED, faults=faults, fault_count=error.fault_count)
    except Conflict as error:
        _finish(upload, waiting, error=error.message)
        raise
    except DomainError as error:
        _finish(upload, State.FAILED, error=error.message)
    except OSError as error:
        _finish(upload, State.FAILED, error=f"The file cannot be read: {error.strerror or error}.")
    except Exception:
        _finish(
            upload, State.FAILED, error="The service failed; its log has the reason. Nothing was imported."
        )
        raise


def _work(upload: CatalogUpload, *, is_import: bool) -> None:
    by = upload.imported_by if is_import else upload.created_by
    known = {"user": str(by.pk)} if by else {}
    progress = _Progress(upload)
    try:
        with upload.upload.open() as file, pghistory.context(**known), transaction.atomic():
            source = CatalogSource(file, listen=progress.show, maximum=UNPACKED_BYTES)
            only = upload.store.external_id if upload.store else None
            summary = import_catalog(source=source, dry_run=not is_import, only_store=only)
            # With the import itself: whoever is killed leaves both undone, or both done.
            done = State.IMPORTED if is_import else State.CHECKED
            _finish(upload, done, summary=asdict(summary), percent=100)
    finally:
        progress.close()


def _queue(upload: CatalogUpload) -> None:
    app.configure_task(TASK, lock=TASK).defer(upload_id=upload.pk)


def _move(upload: CatalogUpload, before: tuple[State, ...], after: State, **values: Any) -> None:
    """One of two who press the same button moves it; the other one is told."""
    rows = CatalogUpload.objects.filter(pk=upload.pk, state__in=before)
    fresh = {"percent": 0, "error": "", "finished": None, "updated": timezone.now()}
    if not rows.update(state=after, **{**fresh, **values}):
        raise Conflict("This file is being worked on, or was imported already.", code="import_started")
    upload.state = after


def _finish(upload: CatalogUpload, state: State, **values: Any) -> None:
    now = timezone.now()
    shown = {"summary": {}, "faults": [], "fault_count": 0, "error": "", **values}
    CatalogUpload.objects.filter(pk=upload.pk).update(state=state, finished=now, updated=now, **shown)


def _storable(text: str) -> str:
    """What a file calls its members may hold what PostgreSQL stores nowhere."""
    return text.replace("\0", "\N{SYMBOL FOR NULL}").encode(errors="replace").decode()


class _Progress:
    """Says how far it has come, four times a second at most, on a connection apart from the import's transaction."""

    def __init__(self, upload: CatalogUpload) -> None:
        self.upload = upload
        self.line = connection.copy()
        self.next = 0.0

    def show(self, position: int) -> None:
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + EVERY_SECONDS
        with self.line.cursor() as cursor:
            cursor.execute(
                "UPDATE stores_catalogupload SET percent = %s, updated = now() WHERE id = %s",
                [min(99, position * 100 // max(1, self.upload.size)), self.upload.pk],
            )

    def close(self) -> None:
        self.line.close()
