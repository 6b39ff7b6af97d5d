"""The files of uploaded pictures and PDFs, and their removal."""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import connection, transaction

from fulfillment.core.files.stored import (
    PRESS_PICTURES,
    asset_file,
    document_file,
    listed,
    read_file,
    remove_files,
)
from stores.proofs.models import Asset, AssetFormat

logger = logging.getLogger("stores.proofs")


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
    with connection.cursor() as cursor:
        number = int.from_bytes(hashlib.sha256(f"document {sha256}".encode()).digest()[:8], signed=True)
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


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
    found = []
    for shard, wanted in shards.items():
        folder = f"{PRESS_PICTURES}/{shard}"
        found += [f"{folder}/{name}" for name in listed(folder)[1] if name.partition("-")[0] in wanted]
    return found
