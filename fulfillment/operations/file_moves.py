"""Copies all stored files from the folder to the bucket or back, while the service runs.

A copy is complete once it was read back with the same SHA-256; existing copies are not sent again, so a stopped run
continues. docs/operating/backup.md describes the steps.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import Storage, storages

from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.errors import Conflict, Unavailable
from fulfillment.core.files.storage import storage_errors, stored_names
from fulfillment.operations.backups.making import named_files

CHUNK = 1 << 20
PROGRESS_EVERY = 500
# The file that /readyz writes as a probe.
PASSING = "health/"


@dataclass(slots=True)
class Moved:
    """The result of a move; `absent` are files that rows name and the target lacks."""

    copied: int = 0
    there: int = 0
    removed: int = 0
    absent: list[str] = field(default_factory=list)


def move_files(
    *, target: str, remove: bool = False, on_progress: Callable[[str], None] = lambda line: None
) -> Moved:
    """Moves files to `folder` or `s3`, from the other. `remove` deletes each at the source once its copy was compared.

    Raises Conflict while something is pruned or backed up, and for `remove` while the service still uses the source.
    """
    source = "s3" if target == "folder" else "folder"
    if "s3" not in settings.STORAGES:
        raise Conflict(
            "S3_BUCKET is not set; set the S3 variables of docs/operating/settings.md, then run it again."
        )
    if remove and source == settings.FILE_STORAGE:
        raise Conflict(
            f"The service still keeps its files in {source}. Set FILE_STORAGE={target}, restart web and workers, then "
            "run it again with --remove.",
            code="source_in_use",
        )
    moved = Moved()
    with exclusive_job("A backup"), exclusive_job("Pruning"), storage_errors():
        for name in stored_names(storages[source]):
            if not name.startswith(PASSING):
                _move(name, storages[source], storages[target], moved, remove=remove)
                if (moved.copied + moved.there) % PROGRESS_EVERY == 0:
                    on_progress(f"{moved.copied} files copied, {moved.there} there already")
        moved.absent = [name for name in named_files() if not storages[target].exists(name)]
    return moved


def _move(name: str, source: Storage, target: Storage, moved: Moved, *, remove: bool) -> None:
    try:
        digest, size = _content_of(name, source)
    except FileNotFoundError:
        # Removed in the meantime by the erasure of a recipient, which does not wait.
        return
    if _is_copied(name, target, digest, size):
        moved.there += 1
    elif _copy(name, source, target, digest, size):
        moved.copied += 1
    else:
        return
    if remove:
        source.delete(name)
        moved.removed += 1


def _copy(name: str, source: Storage, target: Storage, digest: str, size: int) -> bool:
    """Copies a file; False if it was removed in the meantime, and then its copy as well."""
    try:
        with source.open(name) as file:
            target.save(name, File(file, name=name))
    except FileNotFoundError:
        return False
    if not source.exists(name):
        target.delete(name)
        return False
    if not _is_copied(name, target, digest, size):
        message = f"{name} reads back differently than it was written. Run the command again."
        raise Unavailable(message, code="copy_differs")
    return True


def _is_copied(name: str, storage: Storage, digest: str, size: int) -> bool:
    try:
        return storage.size(name) == size and _content_of(name, storage)[0] == digest
    except FileNotFoundError:
        return False


def _content_of(name: str, storage: Storage) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with storage.open(name) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size
