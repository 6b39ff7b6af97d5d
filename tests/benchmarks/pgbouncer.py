"""PgBouncer in transaction mode in front of a PostgreSQL server, where the program is installed (1.21 or newer)."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fulfillment.local import supervision
from fulfillment.local.postgres_layout import Host

LEAST_VERSION = (1, 21)
PORT = 6432
CONFIGURATION = """
[databases]
* = host={server} port=5432
[pgbouncer]
listen_addr = {address}
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
max_prepared_statements = 200
default_pool_size = 20
max_client_conn = 500
ignore_startup_parameters = options
logfile = {folder}/log
"""
# What travels with a connection otherwise: a pooler keeps it from the server.
ROLE = tuple(
    f"ALTER ROLE fulfillment SET {name} = '{value}'"
    for name, value in (
        ("statement_timeout", "15s"),
        ("lock_timeout", "5s"),
        ("idle_in_transaction_session_timeout", "30s"),
        ("jit", "off"),
    )
)


@dataclass(frozen=True)
class Pooler:
    address: str
    pid: int
    version: str

    def url(self, database: str) -> str:
        return f"postgresql://fulfillment@{self.address}:{PORT}/{database}"


def find_pgbouncer() -> tuple[str, str] | None:
    """The program, by PGBOUNCER or on the PATH, and its version; None without one that knows prepared statements."""
    program = shutil.which(os.environ.get("PGBOUNCER", "pgbouncer"))
    if program is None:
        return None
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"PgBouncer (\d+)\.(\d+)", said)
    if found is None or (int(found[1]), int(found[2])) < LEAST_VERSION:
        return None
    return program, f"{found[1]}.{found[2]}"


@contextlib.contextmanager
def pooling(address: str, host: Host) -> Iterator[Pooler | None]:
    """In front of the server on `address`, on the same address; None where it is not installed."""
    found = find_pgbouncer()
    if found is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="pgbouncer-", dir="/tmp") as folder:
        _configure(Path(folder), address, host)
        # It refuses to run as root, as PostgreSQL does.
        process = subprocess.Popen(
            [found[0], f"{folder}/pgbouncer.ini"],
            user=host.uid,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=supervision.end_with_parent,
        )
        try:
            _wait(address, process, Path(folder) / "log")
            yield Pooler(address, process.pid, found[1])
        finally:
            process.terminate()
            process.wait(timeout=15)


def _configure(folder: Path, address: str, host: Host) -> None:
    text = CONFIGURATION.format(server=address, address=address, port=PORT, folder=folder)
    (folder / "pgbouncer.ini").write_text(text)
    (folder / "users").write_text('"fulfillment" ""\n')
    for path in (folder, *folder.iterdir()):
        os.chown(path, host.uid, -1)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((address, PORT), timeout=1):
            return
        time.sleep(0.05)
    raise SystemExit(f"PgBouncer did not start: {log.read_text() if log.exists() else 'no log'}")
