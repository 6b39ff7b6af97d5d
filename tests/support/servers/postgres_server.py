"""A PostgreSQL of a test's own, to restart and to kill: the one of the suite is shared with other tests."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

from fulfillment.local import postgres
from fulfillment.local.postgres_layout import find_host
from tests.support.patience import PATIENCE
from tests.support.servers.live_server import served_environment

ROOT = Path(__file__).resolve().parents[3]


class Restarted:
    """`url` stays the same however often it is restarted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.url = postgres.ensure_running(self.folder, durable=False)

    @property
    def socket(self) -> tuple[str, int]:
        """The folder of its socket, and its port."""
        query = parse_qs(urlsplit(self.url).query)
        return query["host"][0], int(query["port"][0])

    def restart(self, how: str) -> float:
        """`fast` and `immediate` as pg_ctl does it, `killed` by kill -9; returns when it first accepts a connection."""
        host = find_host(self.folder)
        if how == "killed":
            os.kill(int((host.data / "postmaster.pid").read_text().split("\n", 1)[0]), signal.SIGKILL)
        else:
            host.run("pg_ctl", "stop", "-D", str(host.data), "-w", "-m", how)
        deadline = time.monotonic() + PATIENCE
        # Those a killed one left behind hold its memory until they notice.
        while host.run(
            "pg_ctl", "start", "-D", str(host.data), "-w", "-l", str(host.data / "log")
        ).returncode:
            assert time.monotonic() < deadline, (host.data / "log").read_text()[-2000:]
        return self.wait()

    def wait(self) -> float:
        deadline = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(psycopg.OperationalError):
                psycopg.connect(self.url, connect_timeout=5).close()
                return time.monotonic()
            assert time.monotonic() < deadline, "PostgreSQL does not come back"
            time.sleep(0.02)

    def rows(self, statement: str) -> list[tuple]:
        with psycopg.connect(self.url, autocommit=True, connect_timeout=60) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def end_every_connection(self) -> int:
        return len(
            self.rows(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )

    def manage(self, *command: str) -> None:
        """A command of the service on this database."""
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=self.environment(), check=True)

    def environment(self, url: str = "http://127.0.0.1:8000", **more: str) -> dict[str, str]:
        return served_environment(url, self.url) | {"DEMO_ADVANCE_SECONDS": "0"} | more


@contextlib.contextmanager
def own_postgres(parent: str | Path = "/tmp") -> Iterator[Restarted]:
    with tempfile.TemporaryDirectory(prefix="fulfillment-pg-", dir=parent) as folder:
        Path(folder).chmod(0o755)
        data = Path(folder) / "data"
        try:
            yield Restarted(data)
        finally:
            postgres.release(data)
            shutil.rmtree(find_host(data.resolve()).data, ignore_errors=True)
