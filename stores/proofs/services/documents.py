"""Print-ready PDFs: examined, stored once for equal content, and counted against the storage of the caller."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Sum

from accounts.callers import Caller
from fulfillment.core.errors import Conflict, Invalid
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import document_file, write_files
from printing.documents import MAX_BYTES, DocumentRefused, examine_document
from printing.press.artwork import ArtworkPage, BoxMM, page_from
from stores.concurrency_limits import PICTURES
from stores.proofs.models import Asset, AssetFormat
from stores.proofs.services.asset_files import lock_document

logger = logging.getLogger("stores.proofs")


@dataclass(frozen=True, slots=True)
class CleanDocument:
    """A PDF as it prints, under the digest of what was sent."""

    content: bytes
    sha256: str
    pages: Sequence[ArtworkPage]


def receive_document(*, caller: Caller, store_id: int, file: UploadedFile) -> Asset:
    """Reads the PDF of a form in its turn: 100 MB of it take 200 MB of memory."""
    with PICTURES.limited(caller.key):
        document = clean_document(caller=caller, content=file.read(MAX_BYTES + 1))
        return add_document(caller=caller, store_id=store_id, document=document)


def clean_document(*, caller: Caller, content: bytes) -> CleanDocument:
    """Examines an upload. Takes up to 20 seconds, so call it outside of a transaction."""
    if len(content) > MAX_BYTES:
        raise _refused("too_large", f"The PDF has more than {MAX_BYTES:,} bytes (100 MB).")
    with PICTURES.limited(caller.key):
        try:
            prepared = examine_document(content)
        except DocumentRefused as error:
            raise _refused(error.code, str(error)) from error
    return CleanDocument(prepared.pdf, hashlib.sha256(content).hexdigest(), prepared.pages)


def _refused(code: str, message: str) -> Invalid:
    return Invalid.at("", f"asset_{code}", message)


@transaction.atomic
def add_document(*, caller: Caller, store_id: int, document: CleanDocument) -> Asset:
    """Stores the PDF, its file only if no other upload has it; raises Conflict where the caller's storage is full."""
    asset = Asset(
        store_id=store_id,
        application_id=caller.application_id,
        user_id=caller.user_id,
        is_test=caller.is_test,
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
    return [page_from(one) for one in asset.pages or ()]


def page_record(page: ArtworkPage) -> dict[str, Any]:
    """A page as the API shows it."""
    return {
        "WidthMM": round(page.width, 2),
        "HeightMM": round(page.height, 2),
        "TrimBox": _box(page.trim),
        "BleedBox": _box(page.bleed),
    }


def _box(box: BoxMM | None) -> dict[str, float] | None:
    sides = ("X", "Y", "Width", "Height")
    if box is None:
        return None
    return {name: round(getattr(box, name.lower()), 2) + 0.0 for name in sides}
