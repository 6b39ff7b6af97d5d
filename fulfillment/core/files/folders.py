"""What a command makes as root belongs to the owner of the folder around it: the service must read and remove it."""

import os
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
