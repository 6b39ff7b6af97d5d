"""PgBouncer, HAProxy, Patroni and etcd with the files of docs/deploy/ha; only hosts, ports and paths are others."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fulfillment.local import supervision

SHIPPED = Path(__file__).parents[3] / "docs" / "deploy" / "ha"
PASSWORD = "of-the-service"
PACKAGES = {
    "pgbouncer": "pgbouncer",
    "haproxy": "haproxy",
    "patroni": "patroni",
    "etcd": "etcd-server",
    "/usr/lib/postgresql/15/bin/postgres": "postgresql-15",
    "nginx": "nginx",
    "pgbackrest": "pgbackrest",
}


def require_packages(*programs: str) -> None:
    """Skips the test where one is missing, unless HA_TESTS=required."""
    missing = [PACKAGES[program] for program in programs if shutil.which(program) is None]
    if missing:
        give_up = pytest.fail if os.environ.get("HA_TESTS") == "required" else pytest.skip
        give_up(f"Not installed: install the packages {', '.join(missing)}.")


def database_owner() -> pwd.struct_passwd | None:
    """PostgreSQL and PgBouncer refuse to run as root."""
    return pwd.getpwnam("postgres") if os.geteuid() == 0 else None


def shipped(name: str, replaced: Mapping[str, str]) -> str:
    """A file of docs/deploy/ha with other paths and ports."""
    return replaced_text(SHIPPED / name, replaced)


def replaced_text(path: Path, replaced: Mapping[str, str]) -> str:
    """Each text to replace must be in the file."""
    text = path.read_text("utf-8")
    for old, new in replaced.items():
        assert old in text, f"{path.name} has no {old}"
        text = text.replace(old, new)
    return text


def write(path: Path, text: str, owner: pwd.struct_passwd | None) -> Path:
    path.write_text(text, "utf-8")
    path.chmod(0o600)
    if owner:
        os.chown(path, owner.pw_uid, owner.pw_gid)
    return path


def make_folder(folder: Path, owner: pwd.struct_passwd | None) -> Path:
    folder.mkdir()
    if owner:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    return folder


def start(
    command: Sequence[str | Path],
    folder: Path,
    owner: pwd.struct_passwd | None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Runs in the folder, by which its processes are found, and logs there."""
    identity = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}
    with (folder / f"{Path(command[0]).name}.output").open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={
                "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": str(folder),
                "LC_ALL": "C.UTF-8",
                **(environment or {}),
            },
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=supervision.end_with_parent,
            **identity,  # type: ignore[call-overload]  # its values are typed per name
        )


def start_pgbouncer(
    folder: Path, port: int, *, host: str, server_port: int, owner: pwd.struct_passwd | None
) -> subprocess.Popen[bytes]:
    users = write(folder / "userlist.txt", f'"fulfillment" "{PASSWORD}"\n', owner)
    replaced = {
        "host=127.0.0.1 port=5000": f"host={host} port={server_port}",
        "listen_port = 6432": f"listen_port = {port}",
        "/etc/pgbouncer/userlist.txt": str(users),
        "/var/log/postgresql": str(folder),
        "/var/run/postgresql": str(folder),
    }
    path = write(folder / "pgbouncer.ini", shipped("pgbouncer.ini", replaced), owner)
    return start(["pgbouncer", path], folder, owner)


def pooled_url(port: int) -> str:
    return (
        f"postgresql://fulfillment:{PASSWORD}@127.0.0.1:{port}/fulfillment?sslmode=disable&gssencmode=disable"
    )
