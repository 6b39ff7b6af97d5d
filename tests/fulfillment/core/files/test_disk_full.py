"""A disk without room, for each kind of file that is written: nothing half stays, it is said, and it goes on."""

import errno
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from delivery.datasets.models import ImportRun
from delivery.datasets.services.importer import ImportOptions
from delivery.datasets.services.imports import import_upload, receive_upload
from fulfillment.core.files import storage
from fulfillment.operations.backups import making
from stores.catalog.models import CatalogUpload
from stores.orders.models import Order
from stores.proofs.models import Asset, Proof
from tests.factories.orders import card_data, make_card, order_body
from tests.factories.pictures import encode_picture

pytestmark = pytest.mark.django_db

FDOPEN = os.fdopen


class Disk:
    """What may still be written, in bytes; None while there is room."""

    room: int | None = None

    def opened(self, descriptor, mode="r", *arguments, **options):
        """A file that takes what there is room for and then says what a full disk says."""
        file = FDOPEN(descriptor, mode, *arguments, **options)
        return Limited(file, self) if "w" in mode else file


class Limited:
    def __init__(self, file, disk: Disk) -> None:
        self.file, self.disk = file, disk

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        self.file.close()

    def __getattr__(self, name):
        return getattr(self.file, name)

    def write(self, chunk):
        if self.disk.room is None:
            return self.file.write(chunk)
        fits = bytes(chunk)[: self.disk.room]
        self.file.write(fits)
        self.disk.room -= len(fits)
        if len(fits) < len(chunk):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(fits)


@pytest.fixture
def disk(monkeypatch, settings, tmp_path) -> Disk:
    settings.MEDIA_ROOT = str(tmp_path / "media")
    made = Disk()
    monkeypatch.setattr(storage.os, "fdopen", made.opened)
    return made


@pytest.fixture
def card(world):
    return make_card(world.associated)


def files(folder: Path) -> list[str]:
    """Half written ones too, whose names begin with a dot."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def send_picture(world):
    return world.as_application().generic(
        "POST", "/api/v1/store/associated/asset", encode_picture(), content_type="image/png"
    )


def render_proof(world):
    return world.as_application().call("POST", "/store/associated/product/card-two-sided/proof", card_data())


def order_print(world):
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    body = order_body(Items=[item, {**item, "ItemKey": "second"}])
    return world.as_application().call("POST", "/store/associated/order", body)


# The rooms end before the first byte, within a file, and within one after the first.
@pytest.mark.parametrize("room", [0, 40, 60_000])
@pytest.mark.parametrize(
    ("send", "kind"), [(send_picture, Asset), (render_proof, Proof), (order_print, Order)]
)
def test_file_is_whole_or_not_there(world, card, disk, tmp_path, send, kind, room):
    disk.room = room

    full = send(world)
    if full.status_code < 300:
        assert room == 60_000
        return
    left, rows = files(tmp_path / "media"), kind.objects.count()
    read = world.as_application().call("GET", "/store/associated")
    disk.room = None
    again = send(world)

    assert (full.status_code, full.json()["Code"]) == (503, "storage_unavailable")
    assert "no room left" in full.json()["detail"]
    assert int(full["Retry-After"]) > 0
    assert (left, rows) == ([], 0)
    assert read.status_code == 200
    assert again.status_code in {200, 201}
    assert kind.objects.count() == 1
    assert files(tmp_path / "media")


def test_uploads_of_the_console_report_it_at_the_field(world, disk, tmp_path):
    browser = Client()
    browser.force_login(world.operator)
    for path, kind in (
        ("/admin/delivery/importrun/add/", ImportRun),
        ("/admin/stores/catalogupload/add/", CatalogUpload),
    ):
        before, disk.room = files(tmp_path / "media"), 3
        page = browser.post(path, {"file": SimpleUploadedFile("small.csv", b"ZIP,CRRT,RES,BUS\n")})
        left = files(tmp_path / "media")
        disk.room = None
        again = browser.post(path, {"file": SimpleUploadedFile("small.csv", b"ZIP,CRRT,RES,BUS\n")})

        assert page.status_code == 200
        assert "no room left" in page.content.decode()
        assert left == before
        assert (again.status_code, kind.objects.count()) == (302, 1)


def test_import_without_room_to_unpack_loads_nothing_and_can_be_sent_again(disk, monkeypatch):
    content = b"ZIP,CRRT,RES,BUS\n84101,C001,5,5\n"
    run = receive_upload(upload=SimpleUploadedFile("small.csv", content), by="Ada")
    run.options = asdict(ImportOptions(vintage="2026-10"))
    run.save()

    def full(*ignored):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("delivery.datasets.services.imports.shutil.copyfileobj", full)
        with pytest.raises(OSError, match="No space left"):
            import_upload(run_id=run.pk)
    run.refresh_from_db()
    again = receive_upload(upload=SimpleUploadedFile("small.csv", content), by="Ada")
    again.options = run.options
    again.save()

    assert (run.state, "No space left on device" in run.error) == ("failed", True)
    assert import_upload(run_id=again.pk)


@pytest.mark.django_db(transaction=True)
def test_backup_without_room_leaves_nothing(world, disk, tmp_path, monkeypatch):
    folder = tmp_path / "backups" / "one"
    default_storage.save("assets/one.png", SimpleUploadedFile("one.png", encode_picture()))

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(making.os, "fsync", full)
        with pytest.raises(CommandError, match="no room left"):
            call_command("backup", folder)
    assert files(tmp_path / "backups") == []

    call_command("backup", folder)
    assert len(files(folder)) > 1


def test_backup_among_the_files_it_copies_is_refused(disk, tmp_path):
    with pytest.raises(CommandError, match="which the backup copies"):
        call_command("backup", tmp_path / "media" / "backup")
