"""Temporary folders for customers' data; what a killed process leaves behind, the next one removes."""

import fcntl
import os
import shutil
import stat
import tempfile
from pathlib import Path

# Its process holds a lock on this file of a folder; the system releases it with the process, also after SIGKILL.
LOCK = ".in-use"


class ScratchFolder:
    """A new folder that only this user can read. Creating one removes abandoned ones of the same kind."""

    def __init__(self, kind: str) -> None:
        remove_abandoned_folders(kind)
        self.path = Path(tempfile.mkdtemp(prefix=f"{kind}-")).resolve()
        draft = self.path / f"{LOCK}.new"
        self._lock = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Only a locked file gets the name: no other process takes a new folder for an abandoned one.
        draft.rename(self.path / LOCK)

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_abandoned_folders(kind: str) -> int:
    """Removes this user's folders of the kind whose processes have ended; returns how many there were."""
    folders = Path(tempfile.gettempdir()).glob(f"{kind}-*")
    return sum(_remove_if_abandoned(folder) for folder in folders)


def _remove_if_abandoned(folder: Path) -> bool:
    try:
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
            return False
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        shutil.rmtree(folder, ignore_errors=True)
    return True
