"""A restore that fails removes what it brought back, and nothing that somebody uses meanwhile."""

from contextlib import suppress
from threading import Thread

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection, transaction

from accounts.callers import Caller
from fulfillment.operations.backups.records import _restored_files
from stores.proofs.file_names import document_file
from stores.proofs.services.assets import CleanDocument, add_document
from tests.support.patience import wait_for


def fail_to_restore(names: list[str]) -> None:
    with suppress(RuntimeError), _restored_files() as restored:
        restored += names
        raise RuntimeError("the commit failed")


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return cursor.fetchone() is not None


def fail_in_a_thread(names: list[str]) -> None:
    try:
        fail_to_restore(names)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_failed_restore_keeps_a_pdf_that_somebody_is_uploading(world):
    document = CleanDocument(b"%PDF-", "ab" * 32, [])
    name = document_file(document.sha256)
    default_storage.save(name, ContentFile(document.content))
    failing = Thread(target=fail_in_a_thread, args=([name],))
    caller = Caller(application_id=world.application.pk)

    with transaction.atomic():
        add_document(caller=caller, store_id=world.associated.pk, document=document)
        failing.start()
        wait_for(lambda: somebody_waits() or not failing.is_alive())
    failing.join()

    assert default_storage.exists(name)


@pytest.mark.django_db
def test_failed_restore_removes_files_that_nothing_names_but_fonts():
    names = [document_file("cd" * 32), "assets/ab/picture.png", "fonts/somebody-elses.ttf"]
    for name in names:
        default_storage.save(name, ContentFile(b"content"))

    fail_to_restore(names)

    assert [name for name in names if default_storage.exists(name)] == names[2:]
