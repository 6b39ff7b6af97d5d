"""File storage: a folder or an S3 bucket, as configured, and the translation of its errors; static files."""

import errno
import logging
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage, Storage, default_storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from fulfillment.core.errors import DomainError, Unavailable, in_one_line
from fulfillment.core.files.folders import give_to_owner, make_folder

logger = logging.getLogger("fulfillment.core.files.storage")

# For the service's user and group only; a stricter umask applies as well.
FILE_MODE, FOLDER_MODE = 0o640, 0o750
# In a script.
IMPORTS = r"""(?P<matched>(?P<import>import\s[^;"']*?from)\s*["'](?P<url>[./][^"']+)["']\s*;)"""
DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class StorageUnavailable(Unavailable):
    code = "storage_unavailable"

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__(
            "There is no room left for files. Nothing was saved; try again when the operator has made some."
            if isinstance(cause, OSError) and cause.errno in DISK_FULL
            else "The file storage does not respond right now. Nothing was saved. Try again in a few seconds."
        )


@contextmanager
def storage_errors() -> Iterator[None]:
    """Translates the exceptions of all storages to StorageUnavailable, except FileNotFoundError."""
    try:
        yield
    except (DomainError, FileNotFoundError):
        raise
    except Exception as error:
        # A disk or a bucket that refuses needs its reason in one line; only an error of the code needs its stack.
        is_refusal = isinstance(error, OSError) or type(error).__module__.startswith("botocore.")
        logger.error(
            "The file storage failed: %s", in_one_line(error), exc_info=None if is_refusal else error
        )
        raise StorageUnavailable(error) from error


@contextmanager
def stored_upload(record: Any, upload: File) -> Iterator[None]:
    """Stores the file of a new record, and deletes it if the block, which saves the record, fails.

    Its name is unique, because the storage overwrites a file of the same name.
    """
    with storage_errors():
        record.upload.save(uuid4().hex, upload, save=False)
    try:
        yield
    except BaseException:
        record.upload.delete(save=False)
        raise


def room_for_files() -> tuple[int, int] | None:
    """The free and all bytes of the disk with stored files; None for a bucket, which has its own alarms."""
    if not isinstance(default_storage, FileSystemStorage):
        return None
    try:
        disk = shutil.disk_usage(default_storage.location)
    except OSError:
        return None
    return disk.free, disk.total


def stored_names(storage: Storage, folder: str = "") -> Iterator[str]:
    try:
        folders, names = storage.listdir(folder)
    except FileNotFoundError:
        return
    prefix = f"{folder}/" if folder else ""
    # A leading dot marks an incomplete file.
    yield from (f"{prefix}{name}" for name in sorted(names) if name and not name.startswith("."))
    for subfolder in sorted(folders):
        yield from stored_names(storage, f"{prefix}{subfolder}")


class FolderStorage(FileSystemStorage):
    """Writes files atomically, so that a killed writer leaves no partial file under its name."""

    def save(self, name: str | None, content: Any, max_length: int | None = None) -> str:
        """Replaces a file without Django's search for a free name; `path` refuses names outside of the folder."""
        if name is None or not hasattr(content, "chunks"):
            return super().save(name, content, max_length)
        return self._save(name, content)

    def _save(self, name: str, content: File) -> str:
        path = Path(self.path(name))
        # In the same folder, because a rename is atomic only within one file system.
        part = path.parent / f".{secrets.token_hex(8)}.part"
        try:
            with os.fdopen(_create_file(part), "wb") as file:
                for chunk in content.chunks():
                    file.write(chunk)
            give_to_owner(part)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return name


def _create_file(path: Path) -> int:
    """The descriptor of a new file, in a folder that is made if it is missing."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        return os.open(path, flags, FILE_MODE)
    except FileNotFoundError:
        make_folder(path.parent, mode=FOLDER_MODE)
        return os.open(path, flags, FILE_MODE)


class StaticFiles(CompressedManifestStaticFilesStorage):
    """The imports of our own module scripts name the hashed files of this release, which browsers cache for long.

    Django's own switch covers all scripts, and one of django-unfold imports a file that it does not ship.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("console/designer/*.js", ((IMPORTS, '%(import)s "%(url)s";'),)),
    )
