"""`make run` as root: web and worker run as the user that PostgreSQL gets, and see no more than that user may.

Where the checkout or Python lies in a private folder, such as /root, the processes get a view of their own (a mount
namespace) in which the private folder is empty but for these. No folder's permissions are changed.
"""

import contextlib
import ctypes
import os
import pwd
import stat
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fulfillment.local.postgres_layout import server_user

CLONE_NEWNS = 0x00020000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
PROBE = """
import sys, tempfile
import django, granian, fulfillment.core.errors
tempfile.TemporaryFile(dir=sys.argv[1])
"""
REFUSAL = (
    "This root cannot run the service as the user {user}, who may not use {folders}; run `make run` as an ordinary "
    "user, move the checkout to a folder others may enter, such as /opt, or accept a service with all rights of root: "
    "make run RUN_AS_ROOT=1."
)

_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class CannotDrop(RuntimeError):
    """The message is one sentence with the remedy."""


@dataclass(frozen=True)
class Identity:
    """The user of child processes; `shown` are the paths they need from private folders."""

    owner: pwd.struct_passwd
    shown: tuple[Path, ...] = ()

    def take(self) -> None:
        """Called in the child before its program: drops root rights."""
        if self.shown:
            _show_only(self.shown, self.owner)
        os.setgroups([])
        os.setresgid(self.owner.pw_gid, self.owner.pw_gid, self.owner.pw_gid)
        os.setresuid(self.owner.pw_uid, self.owner.pw_uid, self.owner.pw_uid)

    def environment(self) -> dict[str, str]:
        """A home of root's own would be read for certificates and passwords of PostgreSQL."""
        return {
            **os.environ,
            "HOME": "/nonexistent",
            "USER": self.owner.pw_name,
            "LOGNAME": self.owner.pw_name,
        }


def find_identity(
    *, data_folder: Path, checkout: Path, media: Path, environment: Mapping[str, str] = os.environ
) -> Identity | None:
    """None where this is not root, or RUN_AS_ROOT is set. Raises CannotDrop."""
    if os.geteuid() != 0 or environment.get("RUN_AS_ROOT") == "1":
        return None
    owner = server_user(data_folder)
    _make_media(media, owner)
    needed = [checkout, media, *map(Path, (sys.prefix, sys.base_prefix))]
    needed = list(dict.fromkeys(path for given in needed for path in (given.absolute(), given.resolve())))
    plain = Identity(owner)
    for identity in (plain, replace(plain, shown=tuple(needed))):
        if _works(identity, checkout, media):
            return identity
    closed = sorted({str(folder) for folder in _barriers(needed, owner)}) or [str(checkout)]
    raise CannotDrop(REFUSAL.format(user=owner.pw_name, folders=" and ".join(closed)))


def _works(identity: Identity, checkout: Path, media: Path) -> bool:
    command = [sys.executable, "-c", PROBE, str(media)]
    try:
        done = subprocess.run(  # noqa: S603 - ours
            command,
            cwd=checkout,
            env=identity.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            preexec_fn=identity.take,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def _make_media(media: Path, owner: pwd.struct_passwd) -> None:
    """Creates the media folder and takes over files that an earlier run wrote as root; follows no links."""
    media.mkdir(parents=True, exist_ok=True, mode=0o750)
    for _, folders, files, folder in os.fwalk(media):
        for name in (".", *folders, *files):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if found.st_uid == 0 and (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
                os.chown(name, owner.pw_uid, owner.pw_gid, dir_fd=folder, follow_symlinks=False)


def _barriers(paths: Iterable[Path], owner: pwd.struct_passwd) -> set[Path]:
    """The topmost folder on the way to each path that the user may not pass through."""
    found = set()
    for path in paths:
        for folder in reversed(path.parents):
            with contextlib.suppress(FileNotFoundError):
                if not _may_pass(folder, owner):
                    found.add(folder)
                    break
    return found


def _may_pass(folder: Path, owner: pwd.struct_passwd) -> bool:
    known = folder.stat()
    if known.st_uid == owner.pw_uid:
        return bool(known.st_mode & stat.S_IXUSR)
    if known.st_gid == owner.pw_gid:
        return bool(known.st_mode & stat.S_IXGRP)
    return bool(known.st_mode & stat.S_IXOTH)


def _show_only(paths: tuple[Path, ...], owner: pwd.struct_passwd) -> None:
    """Lays an empty file system over each private folder, and what is needed back into it."""
    barriers = _barriers(paths, owner)
    here = Path.cwd()
    _call("unshare", CLONE_NEWNS)
    # Otherwise the mounts would be visible outside.
    _mount("none", "/", None, MS_REC | MS_PRIVATE)
    # Opened inside this namespace and before they are covered: others cannot be mounted.
    opened = [(path, os.open(path, os.O_PATH | os.O_DIRECTORY)) for path in paths]
    for barrier in barriers:
        _mount("tmpfs", str(barrier), "tmpfs", 0, "mode=755")
    done: list[Path] = []
    for path, descriptor in sorted(opened):
        inside = any(path.is_relative_to(barrier) for barrier in barriers)
        if inside and not any(path.is_relative_to(other) for other in done):
            path.mkdir(parents=True, exist_ok=True)
            _mount(f"/proc/self/fd/{descriptor}", str(path), None, MS_BIND | MS_REC)
            done.append(path)
        os.close(descriptor)
    os.chdir(here)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    encoded = [value.encode() if value is not None else None for value in (source, target, kind)]
    _call("mount", *encoded, ctypes.c_ulong(flags), data.encode() if data else None)


def _call(name: str, *arguments: object) -> None:
    if _libc is None or getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
