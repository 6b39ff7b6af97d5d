"""Gives what a command makes as root to the owner of the parent folder, so that the service can read and remove it."""

import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Makes a folder and its parents; a umask takes from the mode."""
    if folder.exists():
        return
    make_folder(folder.parent, mode=mode)
    folder.mkdir(mode, exist_ok=True)
    give_to_owner(folder)


def give_to_owner(path: Path) -> None:
    """The service may put a link in its place meanwhile, which is not followed."""
    if os.geteuid() == 0:
        around = path.parent.stat()
        os.chown(path, around.st_uid, around.st_gid, follow_symlinks=False)


class TemporaryFiles:
    """Copies of what is stored elsewhere, in a folder of this process that is removed when it ends."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._lock = threading.Lock()

    def path(self, name: str, read_content: Callable[[], bytes]) -> Path:
        """The file of this name; `read_content` gives its content, which never changes, where it is missing."""
        with self._lock:
            self._folder = self._folder or tempfile.TemporaryDirectory(prefix=self._prefix)
        path = Path(self._folder.name, name)
        if not path.exists():
            content = read_content()
            half = tempfile.NamedTemporaryFile(dir=path.parent, delete=False)  # noqa: SIM115 - it is renamed
            try:
                with half:
                    half.write(content)
                # Complete, because other threads may read it at any time.
                Path(half.name).rename(path)
            except BaseException:
                Path(half.name).unlink(missing_ok=True)
                raise
        return path
