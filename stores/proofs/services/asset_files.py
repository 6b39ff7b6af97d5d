"""The files of uploaded pictures, and their removal."""

import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

from fulfillment.core.files.stored import PRESS_PICTURES, asset_file, listed, read_file, remove_files
from stores.proofs.models import Asset

logger = logging.getLogger("stores.proofs")


def own_files(asset: Asset) -> list[str]:
    """The picture, and its plates as they were sent."""
    return [asset_file(asset.pk, form) for form in (asset.format, asset.plates) if form]


def remove_asset_files(assets: Sequence[Asset]) -> None:
    """Removes all files of pictures whose rows were deleted, including those converted for presets.

    Another upload of the very same picture is separated again when it is printed.
    """
    try:
        separated = _separated_files({_printed_digest(asset) for asset in assets})
    except Exception:
        # Retention removes them when they are old.
        logger.exception("The separated copies of erased pictures cannot be found")
        separated = []
    remove_files([*(name for asset in assets for name in own_files(asset)), *separated])


def _printed_digest(asset: Asset) -> str:
    """Of what was separated: the plates where there are any."""
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
