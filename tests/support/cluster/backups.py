"""PostgreSQL 15 with continuous archiving by pgBackRest, with the files of docs/deploy/backup on loopback."""

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from fulfillment.local.schema import load_schema
from tests.support.cluster.programs import PASSWORD, database_owner, make_folder, replaced_text, write
from tests.support.servers.live_server import served_environment
from tests.support.servers.ports import free_port
from tests.support.servers.postgres_server import ROOT

SHIPPED = ROOT / "docs/deploy/backup"
PROGRAMS = Path("/usr/lib/postgresql/15/bin")


@dataclass
class ArchivedCluster:
    """`port` is the live database's, `copy_port` where `restore-copy` starts the copy."""

    folder: Path
    port: int = field(default_factory=free_port)
    copy_port: int = field(default_factory=free_port)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def make(self) -> None:
        owner = database_owner()
        for name in ("repository", "spool", "log"):
            make_folder(self.folder / name, owner)
        replaced = {
            "/var/lib/pgbackrest": str(self.folder / "repository"),
            "/var/spool/pgbackrest": str(self.folder / "spool"),
            "/var/log/pgbackrest": str(self.folder / "log"),
            "/var/lib/postgresql/15/main": str(self.data),
        }
        write(self.folder / "pgbackrest.conf", replaced_text(SHIPPED / "pgbackrest.conf", replaced), owner)
        self.run(
            PROGRAMS / "initdb", "-D", self.data, "-U", "postgres", "--auth-host=scram-sha-256", "--no-sync"
        )
        more = (
            f"port = {self.port}\nunix_socket_directories = '{self.folder}'\nlisten_addresses = '127.0.0.1'\n"
            # No test takes the power from the machine.
            "fsync = off\n"
        )
        text = (self.data / "postgresql.conf").read_text() + (SHIPPED / "archive.conf").read_text() + more
        write(self.data / "postgresql.conf", text, owner)
        self.start()
        self.run("psql", "-c", f"CREATE ROLE fulfillment LOGIN PASSWORD '{PASSWORD}' CREATEDB")
        self.run("psql", "-c", "CREATE DATABASE fulfillment OWNER fulfillment")
        load_schema(self.url)
        self.run("pgbackrest", "--stanza=fulfillment", "stanza-create")

    def start(self) -> None:
        self.run(PROGRAMS / "pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log/postgres", "start")

    def stop(self, how: str) -> None:
        self.run(PROGRAMS / "pg_ctl", "-D", self.data, "-m", how, "stop", check=False)

    @property
    def url(self) -> str:
        return f"postgresql://fulfillment:{PASSWORD}@127.0.0.1:{self.port}/fulfillment"

    @property
    def copy(self) -> str:
        return f"127.0.0.1:{self.copy_port}"

    def run(self, *command: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
        """As the owner of the database."""
        owner = database_owner()
        identity = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if owner else {}
        result = subprocess.run(  # type: ignore[call-overload]  # its values are typed per name
            command,
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            **identity,
        )
        assert not check or result.returncode == 0, f"{command}: {result.stdout}{result.stderr}"
        return result

    def restore_copy(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("/bin/sh", self.folder / "restore-copy", *arguments, check=False)

    def environment(self, media: Path) -> dict[str, str]:
        """Of a command of the service on this database."""
        return served_environment("http://127.0.0.1:8000", self.url) | {"MEDIA_ROOT": str(media)}

    def rows(self, statement: str, *values: object) -> list[tuple]:
        """As a superuser, who could delete anything."""
        address = f"host={self.folder} port={self.port} user=postgres dbname=fulfillment"
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def _environment(self) -> Mapping[str, str]:
        """Other paths and ports than the shipped files have."""
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            "PGHOST": str(self.folder),
            "PGPORT": str(self.port),
            "PGUSER": "postgres",
            "PGBACKREST_CONFIG": str(self.folder / "pgbackrest.conf"),
            "PGBACKREST_PG1_PORT": str(self.port),
            "PGBACKREST_PG1_SOCKET_PATH": str(self.folder),
            "PGBACKREST_PG1_USER": "postgres",
            "COPY_FOLDER": str(self.folder / "copy"),
            "COPY_PORT": str(self.copy_port),
            "COPY_SOCKETS": str(self.folder),
        }


@contextlib.contextmanager
def archived_cluster() -> Iterator[ArchivedCluster]:
    with tempfile.TemporaryDirectory(prefix="archive-", dir="/tmp") as name:
        folder, owner = Path(name), database_owner()
        if owner:
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        folder.chmod(0o755)
        made = ArchivedCluster(folder)
        (folder / "restore-copy").write_bytes((SHIPPED / "restore-copy").read_bytes())
        try:
            made.make()
            yield made
        finally:
            made.restore_copy("--remove")
            made.stop("immediate")
