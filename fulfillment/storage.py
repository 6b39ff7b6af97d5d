"""Where files are kept: a folder, or an S3 bucket (settings choose); and what it means when it fails."""

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from fulfillment.errors import DomainError, Unavailable

logger = logging.getLogger("fulfillment.storage")

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class StorageUnavailable(Unavailable):
    code = "storage_unavailable"

    def __init__(self, cause: BaseException | None = None) -> None:
        super().__init__(
            "There is no room left for files. Nothing was saved; try again when the operator has made some."
            if isinstance(cause, OSError) and cause.errno in NO_ROOM
            else "The file storage does not answer right now. Nothing was saved; try again in a few seconds."
        )


@contextmanager
def storage_at_work() -> Iterator[None]:
    """Every kind of storage raises its own exceptions; a missing file stays what it is."""
    try:
        yield
    except (DomainError, FileNotFoundError):
        raise
    except Exception as error:
        logger.error("The file storage failed", exc_info=error)
        raise StorageUnavailable(error) from error


class FolderStorage(FileSystemStorage):
    """A file appears whole under its name or not at all, also when its writer is killed half-way."""

    def _save(self, name: str, content: File) -> str:
        path = Path(self.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        # In the folder itself: a rename is atomic only within one file system.
        with NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as part:
            try:
                for chunk in content.chunks():
                    part.write(chunk)
                part.close()
                Path(part.name).chmod(0o644)
                Path(part.name).replace(path)
            except BaseException:
                Path(part.name).unlink(missing_ok=True)
                raise
        return name
