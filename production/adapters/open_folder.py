"""Folders that a press can write to, held by descriptors: no link that it puts there is followed at any moment."""

import errno
import os
import shutil
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from django.conf import settings

from production.interface import ProviderRefused, ProviderUnavailable

# More names are not listed, because a list of them would fill the memory.
MAX_NAMES = 500_000
FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NO_FOLDER = (errno.ELOOP, errno.ENOTDIR)
# A change within this time of the look may not have moved the folder's time.
COARSE_SECONDS = 2.0
# Clocks of file servers are odd: all names are listed again after this time.
LISTED_AGAIN_SECONDS = 300.0


class OpenFolder:
    """Names given to its methods are single names."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self.descriptor = path, descriptor

    @contextmanager
    def folder(self, name: str, *, create: bool = False) -> Iterator["OpenFolder"]:
        """A folder in this one. Raises FileNotFoundError, and ProviderRefused for a link."""
        if create:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self.descriptor)
        path = self.path / name
        try:
            descriptor = os.open(name, FLAGS, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in NO_FOLDER:
                message = f"{path} is a symbolic link or a file; make it a folder."
                raise ProviderRefused(message, concerns_all=True) from error
            error.filename = str(path)
            raise
        try:
            yield OpenFolder(path, descriptor)
        finally:
            os.close(descriptor)

    def names(self) -> list[str]:
        """Lists the names in no order."""
        with os.scandir(self.descriptor) as entries:
            names = [entry.name for entry in islice(entries, MAX_NAMES + 1)]
        if len(names) > MAX_NAMES:
            message = f"{self.path} has more than {MAX_NAMES:,} files; move the old ones away."
            raise ProviderRefused(message, concerns_all=True)
        return names

    def status(self, name: str) -> os.stat_result | None:
        """The status of the name itself, also where it is a link; None if there is none."""
        with suppress(FileNotFoundError):
            return os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        return None

    def write(self, name: str, content: bytes) -> None:
        """Writes a new file to the disk."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o666, dir_fd=self.descriptor), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def read(self, name: str, *, limit: int) -> bytes:
        """Raises ValueError for what is not a file, and for more bytes than `limit`. Waits for no pipe."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(name, flags, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise ValueError(f"{name}: symbolic links are not read.") from error
            if error.errno == errno.ENXIO:
                raise ValueError(f"{name}: this is a socket.") from error
            if error.errno in (errno.EACCES, errno.EPERM):
                raise ValueError(f"{name}: the service has no permission to read it.") from error
            raise
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise ValueError(f"{name}: this is not a regular file.")
            content = b""
            while len(content) <= limit and (part := file.read(limit + 1 - len(content))):
                content += part
        if len(content) > limit:
            raise ValueError(f"{name}: larger than {limit:,} bytes.")
        return content

    def move(self, name: str, target: "OpenFolder", new_name: str = "") -> None:
        """Does nothing if the name is not there: it was moved before. A link is moved itself."""
        with suppress(FileNotFoundError):
            os.rename(name, new_name or name, src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)

    def remove(self, name: str) -> None:
        """Removes a file, a link or a folder with all that is in it; what cannot be removed stays."""
        status = self.status(name)
        if status is not None and stat.S_ISDIR(status.st_mode):
            shutil.rmtree(name, ignore_errors=True, dir_fd=self.descriptor)
        elif status is not None:
            with suppress(OSError):
                os.unlink(name, dir_fd=self.descriptor)

    def sync(self) -> None:
        os.fsync(self.descriptor)


@contextmanager
def open_press_folder(path: Path) -> Iterator[OpenFolder]:
    """A folder below PRODUCTION_FOLDERS. Links above those are the operator's and are followed, those below are not."""
    roots = [root for folder in map(Path, settings.PRODUCTION_FOLDERS) for root in (folder, folder.resolve())]
    root = next((candidate for candidate in roots if path.is_relative_to(candidate)), None)
    if root is None or ".." in path.parts:
        message = f"{path} is outside of the folders of PRODUCTION_FOLDERS, or named through a link."
        raise ProviderRefused(message, concerns_all=True)
    with ExitStack() as stack:
        try:
            descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, descriptor)
            folder_of_press = OpenFolder(root, descriptor)
            for name in path.relative_to(root).parts:
                folder_of_press = stack.enter_context(folder_of_press.folder(name))
        except FileNotFoundError as error:
            raise ProviderUnavailable(f"{path} is not there; is it mounted?", is_unsent=True) from error
        yield folder_of_press


@dataclass(slots=True)
class _Look:
    changed_ns: int = 0
    at: float = 0.0
    is_coarse: bool = True
    names: set[str] = field(default_factory=set)
    unsettled: set[str] = field(default_factory=set)


# By path, for this process; after a restart all names are new.
_LOOKS: dict[str, _Look] = {}


def new_names(folder: OpenFolder) -> list[str]:
    """Names that are not settled yet, in no order. Lists the folder only if it changed."""
    look = _LOOKS.setdefault(str(folder.path), _Look())
    changed_ns = os.fstat(folder.descriptor).st_mtime_ns
    is_recent = time.monotonic() - look.at < LISTED_AGAIN_SECONDS
    if is_recent and look.changed_ns == changed_ns and not look.is_coarse:
        return list(look.unsettled)
    names = set(folder.names())
    look.changed_ns, look.at = changed_ns, time.monotonic()
    look.is_coarse = time.time() - changed_ns / 1e9 < COARSE_SECONDS
    look.names, look.unsettled = names, (look.unsettled & names) | (names - look.names)
    return list(look.unsettled)


def settle_names(folder: OpenFolder, names: Collection[str]) -> None:
    """Marks names that need no further look."""
    _LOOKS[str(folder.path)].unsettled.difference_update(names)


def forget_names(path: Path) -> None:
    """Makes all names of this folder new again."""
    _LOOKS.pop(str(path), None)
