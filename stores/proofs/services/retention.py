"""Removes proofs and pictures that were not used for a long time, and files without a row or of a cache.

The row is deleted before the files, so that no row lacks its files. A crash in between leaves files without a
row, which the next run removes.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from fulfillment.core.audit.retention import RetentionRule, remove_each
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.files.stored import batches, list_folder
from stores.proofs.file_names import DOCUMENTS, PRESS_PICTURES, document_file, proof_folder
from stores.proofs.models import Asset, AssetFormat, Proof
from stores.proofs.selectors import assets_of_templates
from stores.proofs.services.assets import own_files, remove_asset_files, remove_document
from stores.proofs.services.proofs import lock_proof

# A younger file may belong to a request that has not written its row yet.
YOUNG = timedelta(hours=6)
# A removed picture is separated again when needed.
SEPARATED = timedelta(days=14)
_DIGEST = re.compile(r"[0-9a-f]{40}\Z")
_ASSET = re.compile(r"[0-9a-f]{32}\.")


def retention_rules() -> list[RetentionRule]:
    return [
        unused_proofs(settings.PROOF_RETENTION_DAYS),
        RetentionRule("unused pictures", lambda: _unused_assets().count(), _remove_assets),
        _make_rule("stray proof folders", _stray_folders, partial(_clear_folder, older_than=YOUNG)),
        _make_rule("stray pictures", _stray_assets, _delete_file),
        _make_rule("stray PDFs", _stray_documents, lambda sha256: remove_document(sha256=sha256)),
        _make_rule("separated pictures", _old_separated, _delete_file),
    ]


def _make_rule(name: str, find: Callable[[], Iterator[str]], remove: Callable[[str], bool]) -> RetentionRule:
    """A rule for what `find` sees in the file storage; `remove` says whether it removed one."""

    def count() -> int:
        with storage_errors():
            return sum(1 for _ in find())

    def remove_all(batch: int) -> Iterator[int]:
        with storage_errors():
            yield from remove_each(find(), storage_errors()(remove))

    return RetentionRule(name, count, remove_all)


def _delete_file(name: str) -> bool:
    default_storage.delete(name)
    return True


def unused_proofs(days: int) -> RetentionRule:
    """Proofs that were not requested for this many days."""
    return RetentionRule(
        "proofs",
        lambda: _unused_proofs(days).count(),
        partial(_remove_proofs, days),
        for_days=unused_proofs,
    )


def _unused_assets() -> QuerySet[Asset]:
    before = timezone.now() - timedelta(days=settings.ASSET_RETENTION_DAYS)
    unused = Q(last_used__lt=before) | Q(is_test=True, last_used__lt=_before_of_tests())
    return Asset.objects.filter(unused, is_ordered=False).exclude(pk__in=assets_of_templates())


def _remove_assets(batch: int) -> Iterator[int]:
    """Deletes the rows first: the next run removes files that remain after a crash."""
    while removed := _remove_asset_rows(batch):
        with storage_errors():
            remove_asset_files(removed)
        yield len(removed)


@transaction.atomic
def _remove_asset_rows(batch: int) -> list[Asset]:
    rows = list(_unused_assets().order_by("last_used").select_for_update(skip_locked=True)[:batch])
    Asset.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return rows


def _unused_proofs(days: int) -> QuerySet[Proof]:
    before = timezone.now() - timedelta(days=days)
    return Proof.objects.filter(Q(last_used__lt=before) | Q(is_test=True, last_used__lt=_before_of_tests()))


def _before_of_tests() -> datetime:
    """The age limit for proofs of tests: after the last signed URL has expired."""
    days = max(settings.TEST_RETENTION_DAYS, settings.PROOF_MINIMUM_RETENTION_DAYS)
    return timezone.now() - timedelta(days=days)


def _remove_proofs(days: int, batch: int) -> Iterator[int]:
    while digests := _remove_rows(days, batch):
        with storage_errors():
            for digest in digests:
                _clear_folder(digest)
        yield len(digests)


def delete_proof(*, digest: str) -> bool:
    """Removes a proof with its files; False when there is none."""
    had_row = bool(Proof.objects.filter(digest=digest).delete()[0])
    with storage_errors():
        _clear_folder(digest)
    return had_row


@transaction.atomic
def _remove_rows(days: int, batch: int) -> list[str]:
    unused = _unused_proofs(days).order_by("last_used")
    digests = list(unused.select_for_update(skip_locked=True).values_list("digest", flat=True)[:batch])
    Proof.objects.filter(digest__in=digests).delete()
    return digests


@transaction.atomic
def _clear_folder(digest: str, older_than: timedelta | None = None) -> bool:
    """Deletes the files under the lock of the proof, as another request may be rendering it again."""
    lock_proof(digest)
    if Proof.objects.filter(digest=digest).exists():
        return False
    folder = proof_folder(digest)
    if older_than is not None and _may_be_unfinished(folder, older_than):
        return False
    names = [f"{folder}/{name}" for name in list_folder(folder)[1]]
    # The folder itself last, when it is empty; in a bucket it does not exist.
    for name in [*names, folder]:
        default_storage.delete(name)
    return True


def _may_be_unfinished(folder: str, age: timedelta = YOUNG) -> bool:
    return any(_is_recent(f"{folder}/{name}", age) for name in list_folder(folder)[1])


def _stray_folders() -> Iterator[str]:
    """The digests of proofs."""
    for shard in list_folder("proofs")[0]:
        for digests in batches(list_folder(f"proofs/{shard}")[0]):
            stored = Proof.objects.filter(digest__in=digests).values_list("digest", flat=True)
            strays = {digest for digest in digests if _DIGEST.match(digest)}.difference(stored)
            yield from (stray for stray in sorted(strays) if not _may_be_unfinished(proof_folder(stray)))


def _stray_assets() -> Iterator[str]:
    for shard in list_folder("assets")[0]:
        for names in batches(list_folder(f"assets/{shard}")[1]):
            ids = [UUID(name[:32]) for name in names if _ASSET.match(name)]
            stored = {name for asset in Asset.objects.filter(pk__in=ids) for name in own_files(asset)}
            strays = {f"assets/{shard}/{name}" for name in names} - stored
            yield from (name for name in sorted(strays) if not _is_recent(name, YOUNG))


def _stray_documents() -> Iterator[str]:
    for shard in list_folder(DOCUMENTS)[0]:
        for names in batches(list_folder(f"{DOCUMENTS}/{shard}")[1]):
            digests = {name.removesuffix(".pdf") for name in names}
            stored = Asset.objects.filter(format=AssetFormat.PDF, sha256__in=digests)
            strays = sorted(digests.difference(stored.values_list("sha256", flat=True)))
            yield from (stray for stray in strays if not _is_recent(document_file(stray), YOUNG))


def _old_separated() -> Iterator[str]:
    for shard in list_folder(PRESS_PICTURES)[0]:
        names = (f"{PRESS_PICTURES}/{shard}/{name}" for name in list_folder(f"{PRESS_PICTURES}/{shard}")[1])
        yield from (name for name in names if not _is_recent(name, SEPARATED))


def _is_recent(name: str, age: timedelta) -> bool:
    try:
        return default_storage.get_modified_time(name) > timezone.now() - age
    except Exception:
        # Each storage backend raises its own exception for a file that was removed meanwhile.
        if default_storage.exists(name):
            raise
        return False
