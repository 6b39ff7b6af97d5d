"""A streaming replica of an embedded PostgreSQL, made by pg_basebackup of the same programs."""

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from fulfillment.local.postgres_layout import Host, find_host
from tests.support.patience import PATIENCE


class StreamingReplica:
    """`url` stays the same however often it is stopped and started."""

    def __init__(self, primary: Host, database: str, *, listens: str = "", port: int = 5432) -> None:
        self.host, self.data = primary, primary.data.with_name(f"{primary.data.name}-replica")
        self.sockets = self.data
        self.options = (
            f"-c unix_socket_directories='{self.sockets}' -c listen_addresses='{listens}' -c port={port}"
        )
        place = f"{listens}:{port}/{database}" if listens else f"/{database}?host={self.sockets}&port={port}"
        self.url = f"postgresql://fulfillment@{place}"

    def make(self) -> None:
        shutil.rmtree(self.data, ignore_errors=True)
        self.host.own(self.data)
        source = ["-h", str(self.host.sockets), "-p", "5432", "-U", "fulfillment"]
        done = self.host.run(
            "pg_basebackup", *source, "-D", str(self.data), "-R", "-X", "stream", "-c", "fast"
        )
        assert done.returncode == 0, done.stdout
        # The primary's own, where its sockets are in its data folder.
        for lock in self.data.glob(".s.PGSQL.*.lock"):
            lock.unlink()

    def start(self) -> None:
        arguments = ["-D", str(self.data), "-w", "-t", str(int(PATIENCE)), "-l", str(self.data / "log")]
        deadline = time.monotonic() + PATIENCE
        # What a killed one left behind holds its memory until it notices.
        while self.host.run("pg_ctl", "start", *arguments, "-o", self.options).returncode:
            assert time.monotonic() < deadline, (self.data / "log").read_text()[-2000:]

    @property
    def pid(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        self.host.run("pg_ctl", "stop", "-D", str(self.data), "-w", "-m", "immediate")

    def rows(self, statement: str) -> list[tuple]:
        with psycopg.connect(self.url, autocommit=True, connect_timeout=60) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []


@contextlib.contextmanager
def streaming_replica(
    folder: Path, database: str, *, listens: str = "", port: int = 5432
) -> Iterator[StreamingReplica]:
    """Of the running server on `folder`, until the block ends."""
    replica = StreamingReplica(find_host(folder.resolve()), database, listens=listens, port=port)
    replica.make()
    try:
        replica.start()
        yield replica
    finally:
        replica.stop()
        shutil.rmtree(replica.data, ignore_errors=True)
