"""Files that the storage lacks, from the folder of a backup or from the earlier versions of a bucket."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.files.base import File
from django.core.files.storage import default_storage

from fulfillment.operations.backups.manifest import FILES, Content, hash_file, read_contents


def restore_missing(names: Sequence[str], folder: Path | None) -> list[str]:
    """Returns the names that were found nowhere."""
    wanted = set(names)
    if folder is not None:
        for content in read_contents(folder):
            # One that was damaged is not there.
            if content.name in wanted and _restore(content, folder / FILES / content.name):
                wanted.remove(content.name)
    return sorted(name for name in wanted if not _undelete(name))


def _restore(content: Content, path: Path) -> bool:
    if not path.is_file() or hash_file(path) != content.sha256:
        return False
    with path.open("rb") as source:
        default_storage.save(content.name, File(source, name=content.name))
    return True


def _undelete(name: str) -> bool:
    """In a bucket with versions a deletion is a marker in front of the last version; without it the file is back."""
    bucket: Any = getattr(default_storage, "bucket", None)
    if bucket is None:
        return False
    # The name with the storage's location before it.
    key = default_storage._normalize_name(name)  # type: ignore[attr-defined]  # noqa: SLF001
    versions = [one for one in bucket.object_versions.filter(Prefix=key) if one.object_key == key]
    for marker in versions:
        # Only what is no marker has a size.
        if marker.is_latest and marker.size is None:
            marker.delete()
    return bool(default_storage.exists(name))
