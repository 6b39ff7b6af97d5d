"""Removes proofs nobody asked for in a long time, and files that no row names.

The row goes first: until then the proof is whole. Whoever is killed in between leaves files that the next
run finds, because it looks at the folders as well.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from fulfillment.pruning import Prunable
from stores.files import asset_file, proof_folder, storage_at_work
from stores.models import Asset, Proof
from stores.services.proofs import lock_proof

BATCH = 200
# A file this young may belong to a request that has not written its row yet.
YOUNG = timedelta(hours=6)
_DIGEST = re.compile(r"[0-9a-f]{40}\Z")
_ASSET = re.compile(r"[0-9a-f]{32}\.")


@dataclass
class PruneSummary:
    proofs: int = 0
    stray_folders: int = 0
    stray_assets: int = 0


def prunables(*, proof_days: int | None = None) -> list[Prunable]:
    days = settings.PROOF_DAYS_KEPT if proof_days is None else proof_days
    return [
        Prunable("proofs", lambda: _unused_proofs(days).count(), partial(_remove_proofs, days)),
        Prunable("stray proof folders", _count_stray_folders, _remove_stray_folders),
        Prunable("stray pictures", _count_stray_assets, _remove_stray_assets),
    ]


def prune_proofs(*, days: int) -> PruneSummary:
    return PruneSummary(*(sum(each.remove(BATCH)) for each in prunables(proof_days=days)))


def _unused_proofs(days: int) -> QuerySet[Proof]:
    return Proof.objects.filter(last_used__lt=timezone.now() - timedelta(days=days))


def _remove_proofs(days: int, batch: int) -> Iterator[int]:
    while digests := _remove_rows(days, batch):
        with storage_at_work():
            for digest in digests:
                _clear_folder(digest)
        yield len(digests)


def _remove_stray_folders(batch: int) -> Iterator[int]:
    with storage_at_work():
        for digest in _stray_digests():
            yield _clear_folder(digest, older_than=YOUNG)


def _count_stray_folders() -> int:
    with storage_at_work():
        return sum(not _is_in_the_making(proof_folder(digest)) for digest in _stray_digests())


def _remove_stray_assets(batch: int) -> Iterator[int]:
    with storage_at_work():
        for name in _stray_assets():
            default_storage.delete(name)
            yield 1


def _count_stray_assets() -> int:
    with storage_at_work():
        return sum(1 for _ in _stray_assets())


@transaction.atomic
def _remove_rows(days: int, batch: int) -> list[str]:
    unused = _unused_proofs(days).order_by("last_used")
    digests = list(unused.select_for_update(skip_locked=True).values_list("digest", flat=True)[:batch])
    Proof.objects.filter(digest__in=digests).delete()
    return digests


@transaction.atomic
def _clear_folder(digest: str, older_than: timedelta | None = None) -> bool:
    """Under the lock of the proof: it may be in the making again just now."""
    lock_proof(digest)
    if Proof.objects.filter(digest=digest).exists():
        return False
    folder = proof_folder(digest)
    if older_than is not None and _is_in_the_making(folder, older_than):
        return False
    names = [f"{folder}/{name}" for name in _listed(folder)[1]]
    # The folder itself last: to a bucket it is nothing, to a file system an empty directory.
    for name in [*names, folder]:
        default_storage.delete(name)
    return True


def _is_in_the_making(folder: str, age: timedelta = YOUNG) -> bool:
    return any(_is_young(f"{folder}/{name}", age) for name in _listed(folder)[1])


def _stray_digests() -> Iterator[str]:
    for shard in _listed("proofs")[0]:
        for digests in _batches(_listed(f"proofs/{shard}")[0]):
            known = Proof.objects.filter(digest__in=digests).values_list("digest", flat=True)
            yield from sorted({digest for digest in digests if _DIGEST.match(digest)}.difference(known))


def _stray_assets() -> Iterator[str]:
    for shard in _listed("assets")[0]:
        for names in _batches(_listed(f"assets/{shard}")[1]):
            ids = [UUID(name[:32]) for name in names if _ASSET.match(name)]
            known = {asset_file(one.pk, one.format) for one in Asset.objects.filter(pk__in=ids)}
            strays = {f"assets/{shard}/{name}" for name in names} - known
            yield from (name for name in sorted(strays) if not _is_young(name, YOUNG))


def _listed(folder: str) -> tuple[list[str], list[str]]:
    try:
        folders, names = default_storage.listdir(folder)
    except FileNotFoundError:
        return [], []
    return folders, names


def _is_young(name: str, age: timedelta) -> bool:
    try:
        return default_storage.get_modified_time(name) > timezone.now() - age
    except FileNotFoundError:
        return False


def _batches(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]
