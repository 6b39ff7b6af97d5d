"""Checks and stores uploaded pictures and PDFs.

Pictures lose their metadata. The file of equal PDFs is stored once, and counts against each caller's storage.
"""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.db.locks import lock_number, lock_until_commit
from fulfillment.core.errors import Conflict, Invalid
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import list_folder, read_file, remove_files, write_files
from printing.bounded import TaskFailed
from printing.documents import MAX_DOCUMENT_BYTES, DocumentRefused, examine_document
from printing.press import isolation
from printing.press.artwork import ArtworkPage, page_from
from printing.press.uploads import UploadRefused
from stores.concurrency_limits import PICTURES
from stores.proofs.file_names import PRESS_PICTURES, asset_file, document_file
from stores.proofs.models import Asset, AssetFormat, PlatesFormat

logger = logging.getLogger("stores.proofs")

MAX_PICTURE_BYTES = 10 * 1024 * 1024
# Must be far less than ASSET_RETENTION_DAYS.
TOUCH_AFTER = timedelta(days=1)
ALLOWED = (
    "Send one PNG or JPEG picture of at most 10 MB (10,485,760 bytes) and 50 megapixels, or one PDF of at "
    "most 100 MB (104,857,600 bytes) and 200 pages."
)


@dataclass(frozen=True, slots=True)
class CleanPicture:
    """A picture that was decoded and encoded again."""

    content: bytes
    form: AssetFormat
    width: int
    height: int
    # The original plates, if their inks or grays differ from those of the picture.
    plates: bytes = b""
    plates_form: str = ""


def add_asset(*, caller: Caller, store_id: int, picture: CleanPicture) -> Asset:
    """Stores the picture. The file is written before the row, so that no row lacks its file."""
    asset = _asset_of(
        caller,
        store_id,
        format=picture.form,
        sha256=hashlib.sha256(picture.content).hexdigest(),
        size=len(picture.content),
        width=picture.width,
        height=picture.height,
        plates=picture.plates_form,
    )
    files = [(asset_file(asset.pk, asset.format), picture.content)]
    if picture.plates:
        files.append((asset_file(asset.pk, asset.plates), picture.plates))
    with storage_errors():
        write_files(files)
    asset.save(force_insert=True)
    return asset


def _asset_of(caller: Caller, store_id: int, **members: Any) -> Asset:
    owner = {"application_id": caller.application_id, "user_id": caller.user_id}
    return Asset(store_id=store_id, is_test=caller.is_test, **owner, **members)


def touch_assets(*, assets: Iterable[Asset]) -> None:
    """Records the use of the pictures, at most once a day for each."""
    now = timezone.now()
    stale = [asset.pk for asset in assets if asset.last_used < now - TOUCH_AFTER]
    if stale:
        Asset.objects.filter(pk__in=stale).update(last_used=now)


def clean_picture(*, caller: Caller, content: bytes) -> CleanPicture:
    """Checks and re-encodes an upload. Takes up to seconds, so call it outside of a transaction."""
    if len(content) > MAX_PICTURE_BYTES:
        raise _asset_error("asset_too_large", f"The file has more than {MAX_PICTURE_BYTES:,} bytes.")
    if not content:
        raise _asset_error("asset_empty", "The file is empty.")
    with PICTURES.slot(caller.key):
        try:
            upload = isolation.clean(content)
        except UploadRefused as error:
            raise _asset_error(error.code, str(error)) from error
        except TaskFailed as error:
            logger.warning("An uploaded picture could not be read", exc_info=error)
            raise _asset_error(
                "asset_unreadable", "Reading the picture took too much memory or time."
            ) from error
    plates_form = PlatesFormat[upload.plates_form] if upload.plates_form else ""
    form = AssetFormat[upload.form]
    return CleanPicture(upload.content, form, upload.width, upload.height, upload.plates, plates_form)


def _asset_error(code: str, fault: str) -> Invalid:
    return Invalid.at("", code, f"{fault} {ALLOWED}")


@dataclass(frozen=True, slots=True)
class CleanDocument:
    """A PDF as it prints, under the digest of what was sent."""

    content: bytes
    sha256: str
    pages: Sequence[ArtworkPage]


def receive_document(*, caller: Caller, store_id: int, file: UploadedFile) -> Asset:
    """Stores the PDF of a form. Holds a slot of PICTURES, because 100 MB take 200 MB of memory to read."""
    with PICTURES.slot(caller.key):
        document = clean_document(caller=caller, content=file.read(MAX_DOCUMENT_BYTES + 1))
        return add_document(caller=caller, store_id=store_id, document=document)


def clean_document(*, caller: Caller, content: bytes) -> CleanDocument:
    """Examines an upload. Takes up to 20 seconds, so call it outside of a transaction."""
    if len(content) > MAX_DOCUMENT_BYTES:
        raise _document_refused("too_large", f"The PDF has more than {MAX_DOCUMENT_BYTES:,} bytes (100 MB).")
    with PICTURES.slot(caller.key):
        try:
            prepared = examine_document(content)
        except DocumentRefused as error:
            raise _document_refused(error.code, str(error)) from error
    return CleanDocument(prepared.pdf, hashlib.sha256(content).hexdigest(), prepared.pages)


def _document_refused(code: str, message: str) -> Invalid:
    return Invalid.at("", f"asset_{code}", message)


@transaction.atomic
def add_document(*, caller: Caller, store_id: int, document: CleanDocument) -> Asset:
    """Stores the PDF, its file only if no other upload has it; raises Conflict where the caller's storage is full."""
    asset = _asset_of(
        caller,
        store_id,
        format=AssetFormat.PDF,
        sha256=document.sha256,
        size=len(document.content),
        width=0,
        height=0,
        pages=[asdict(page) for page in document.pages],
    )
    _refuse_full_storage(caller, asset.size)
    name = document_file(asset.sha256)
    lock_document(asset.sha256)
    with storage_errors():
        if not default_storage.exists(name):
            write_files([(name, document.content)])
    asset.save(force_insert=True)
    return asset


def _refuse_full_storage(caller: Caller, size: int) -> None:
    owner = {"application_id": caller.application_id, "user_id": caller.user_id}
    if not caller.is_first_party:
        owner.pop("user_id")
    used = Asset.objects.filter(format=AssetFormat.PDF, **owner).aggregate(used=Sum("size"))["used"] or 0
    if used + size > settings.DOCUMENT_STORAGE_MB * 1_000_000:
        message = (
            f"Your PDFs take {used / 1e6:,.0f} MB; {settings.DOCUMENT_STORAGE_MB:,} MB are allowed. Those that no "
            f"order uses are removed {settings.ASSET_RETENTION_DAYS} days after their last use. Ordered ones stay."
        )
        raise Conflict(message, code="asset_storage_full")


def pages_of(asset: Asset) -> list[ArtworkPage]:
    return [page_from(page) for page in asset.pages or ()]


def own_files(asset: Asset) -> list[str]:
    """The picture, and its plates as they were sent; or the PDF, which other uploads may share."""
    if asset.is_document:
        return [document_file(asset.sha256)]
    return [asset_file(asset.pk, form) for form in (asset.format, asset.plates) if form]


def remove_asset_files(assets: Sequence[Asset]) -> None:
    """Removes all files of uploads whose rows were deleted, including pictures converted for presets.

    Another upload of the very same picture is separated again when it is printed.
    """
    for sha256 in sorted({asset.sha256 for asset in assets if asset.is_document}):
        remove_document(sha256=sha256)
    assets = [asset for asset in assets if not asset.is_document]
    try:
        separated = _separated_files({_printed_digest(asset) for asset in assets})
    except Exception:
        # Retention removes them when they are old.
        logger.exception("The separated copies of erased pictures cannot be found")
        separated = []
    remove_files([*(name for asset in assets for name in own_files(asset)), *separated])


@transaction.atomic
def remove_document(*, sha256: str) -> bool:
    """Deletes the file of a PDF unless an upload still has it; returns whether it did."""
    lock_document(sha256)
    if Asset.objects.filter(format=AssetFormat.PDF, sha256=sha256).exists():
        return False
    remove_files([document_file(sha256)])
    return True


def lock_document(sha256: str) -> None:
    """Take this lock before writing or deleting the file of a PDF; it is released when the transaction ends."""
    lock_until_commit(lock_number(f"document {sha256}"))


def _printed_digest(asset: Asset) -> str:
    """The digest of what was separated: the plates where there are any."""
    if not asset.plates:
        return asset.sha256
    try:
        return hashlib.sha256(read_file(asset_file(asset.pk, asset.plates))).hexdigest()
    except FileNotFoundError:
        return asset.sha256


def _separated_files(digests: Iterable[str]) -> list[str]:
    shards = defaultdict(set)
    for digest in digests:
        shards[digest[:2]].add(digest)
    names = []
    for shard, shard_digests in shards.items():
        folder = f"{PRESS_PICTURES}/{shard}"
        names += [
            f"{folder}/{name}" for name in list_folder(folder)[1] if name.partition("-")[0] in shard_digests
        ]
    return names
