"""The embedded PostgreSQL 18: made, started, shared between processes and stopped by ourselves.

Every process that uses a server holds a shared lock on `<data folder>.lock` while it lives; the last one to
leave stops the server. Starting, stopping and counting happen under `<data folder>.start.lock`. Only the
server's user and root can enter the folder with its socket, hence `--auth=trust`.
"""

import atexit
import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
from psycopg import sql

from fulfillment.core.files.folders import make_folder
from fulfillment.local.postgres_layout import Host, PostgresUnavailable, find_host, open_lock

__all__ = ["PostgresUnavailable", "ensure_running", "locate", "release"]

MAJOR_VERSION = "18"
SUPERUSER = "fulfillment"
START_SECONDS = 60
MINIMUM_FREE_BYTES = 200 * 1024 * 1024
LOG_NAME = "server.log"
LOG_LIMIT = 1024 * 1024

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "192MB",
    "effective_cache_size": "1GB",
    "maintenance_work_mem": "128MB",
    "work_mem": "8MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Statements and the values in error details never reach the log.
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
    "log_statement": "none",
    "log_checkpoints": "off",
}
WITHOUT_DURABILITY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}

_held: dict[Path, int] = {}


def locate(data_folder: Path, *, database: str = "fulfillment") -> str:
    """The DATABASE_URL of `ensure_running`, without starting anything."""
    data_folder = _resolve(data_folder)
    with _plain_errors(data_folder):
        return _make_url(find_host(data_folder), database)


def ensure_running(data_folder: Path, *, database: str = "fulfillment", durable: bool = True) -> str:
    """Have a server on `data_folder` until this process ends and return its DATABASE_URL.

    Makes cluster and database when they are missing. `durable=False` is for data that may be lost.
    """
    data_folder = _resolve(data_folder)
    with _plain_errors(data_folder):
        host = find_host(data_folder)
        with _start_lock(data_folder):
            if data_folder not in _held:
                _held[data_folder] = _hold(data_folder)
                atexit.register(_release_at_exit, data_folder, os.getpid())
            _start_or_recreate(host, durable=durable)
            _make_database(host, database)
    return _make_url(host, database)


def release(data_folder: Path) -> bool:
    """Stop using the server; True when this process was the last one and stopped it."""
    data_folder = _resolve(data_folder)
    lock = _held.pop(data_folder, None)
    if lock is None:
        return False
    try:
        with _start_lock(data_folder):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            host = find_host(data_folder)
            return host.run("pg_ctl", "stop", "-D", str(host.data), "-m", "fast", "-w").returncode == 0
    except BlockingIOError:
        return False
    finally:
        os.close(lock)


def _release_at_exit(data_folder: Path, process: int) -> None:
    # A forked child inherits the exit handler and must not stop its parent's server.
    if process == os.getpid():
        with contextlib.suppress(OSError, PostgresUnavailable):
            release(data_folder)


def _resolve(data_folder: Path) -> Path:
    resolved = data_folder.resolve()
    if any(mark in str(resolved) for mark in '"$`\\\n'):
        raise PostgresUnavailable(
            f"PostgreSQL cannot run in {resolved}; move it to a path without quotes, $ and \\, or set "
            f"DATABASE_URL to a PostgreSQL server of yours."
        )
    return resolved


@contextlib.contextmanager
def _plain_errors(data_folder: Path) -> Iterator[None]:
    try:
        make_folder(data_folder.parent)
        yield
    except OSError as error:
        raise PostgresUnavailable(
            f"PostgreSQL cannot keep its data in {data_folder} ({error.strerror}: {error.filename}); "
            "make that folder writable, free some space, or set DATABASE_URL to a PostgreSQL server of yours."
        ) from error


@contextlib.contextmanager
def _start_lock(data_folder: Path) -> Iterator[None]:
    descriptor = open_lock(data_folder.with_name(f"{data_folder.name}.start.lock"))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _hold(data_folder: Path) -> int:
    descriptor = open_lock(data_folder.with_name(f"{data_folder.name}.lock"))
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def _make_url(host: Host, database: str) -> str:
    address = urlencode({"host": str(host.sockets), "port": "5432"}, quote_via=quote, safe="")
    return f"postgresql://{SUPERUSER}@/{quote(database, safe='')}?{address}"


def _start_or_recreate(host: Host, *, durable: bool) -> None:
    try:
        _start(host, durable=durable)
    except PostgresUnavailable:
        if durable or not host.data.exists() or _process_of(host):
            raise
        # Without durability, a crash of the machine may damage the cluster; it is recreated.
        shutil.rmtree(host.data)
        _start(host, durable=durable)


def _start(host: Host, *, durable: bool) -> None:
    """Leave a server that accepts connections: the running one, or a new one."""
    if not host.data.exists():
        _make_cluster(host, durable=durable)
    _check_cluster(host)
    deadline = time.monotonic() + START_SECONDS
    while not _is_accepting(host):
        if time.monotonic() > deadline:
            raise _not_started(host, "it did not answer in time")
        if _process_of(host):
            # It is starting, recovering or still stopping after a killed run.
            time.sleep(0.05)
            continue
        _launch(host, durable=durable)


def _make_cluster(host: Host, *, durable: bool) -> None:
    free = shutil.disk_usage(host.data.parent).free
    if free < MINIMUM_FREE_BYTES:
        raise PostgresUnavailable(
            f"Only {free // 1024 // 1024} MB are free in {host.data.parent} and PostgreSQL needs "
            f"{MINIMUM_FREE_BYTES // 1024 // 1024} MB; free some space or set DATABASE_URL."
        )
    partial = host.data.with_name(f"{host.data.name}.new")
    if partial.exists():
        shutil.rmtree(partial)
    host.own(partial)
    command = ["-D", str(partial), "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--no-instructions"]
    command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    result = host.run("initdb", *command, *([] if durable else ["--no-sync"]))
    if result.returncode:
        raise PostgresUnavailable(
            f"PostgreSQL could not make its data folder {host.data}: {_last_lines(result.stdout)}"
        )
    partial.rename(host.data)


def _check_cluster(host: Host) -> None:
    if host.data.stat().st_uid != host.uid:
        raise PostgresUnavailable(
            f"{host.data} belongs to another user; run this as that user, remove the folder with its data, "
            "or set DATABASE_URL to a PostgreSQL server of yours."
        )
    version = (host.data / "PG_VERSION").read_text(encoding="ascii").strip()
    if version != MAJOR_VERSION:
        raise PostgresUnavailable(
            f"{host.data} was made by PostgreSQL {version} and this is {MAJOR_VERSION}; dump it with the "
            "older version, remove the folder and load the dump."
        )


def _is_accepting(host: Host) -> bool:
    try:
        psycopg.connect(_make_url(host, "postgres"), connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True


def _process_of(host: Host) -> int | None:
    """Return the process of the server on this data folder, forgetting a file a killed one left behind.

    After a restart of the machine or container the number in the file may be another process's.
    """
    file = host.data / "postmaster.pid"
    try:
        process = int(file.read_text(encoding="utf-8").split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None
    if not Path("/proc/self/cwd").exists():
        return process if _is_alive(process) else None
    with contextlib.suppress(OSError):
        if Path(f"/proc/{process}/cwd").readlink() == host.data:
            return process
    file.unlink(missing_ok=True)
    return None


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _launch(host: Host, *, durable: bool) -> None:
    host.make_socket_folder()
    log = host.data / LOG_NAME
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.unlink()
    settings = SETTINGS | {"unix_socket_directories": f'"{host.sockets}"'}
    settings |= {} if durable else WITHOUT_DURABILITY
    lines = [f"{name} = '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in settings.items()]
    # initdb made this file for the server's user, and writing keeps its owner.
    (host.data / "postgresql.auto.conf").write_text("".join(lines), encoding="utf-8")
    arguments = ["-D", str(host.data), "-l", str(log), "-w", "-t", str(START_SECONDS)]
    result = host.run("pg_ctl", "start", *arguments)
    if result.returncode:
        last = log.read_text(encoding="utf-8", errors="replace") if log.exists() else result.stdout
        raise _not_started(host, _last_lines(last or result.stdout))


def _make_database(host: Host, database: str) -> None:
    with psycopg.connect(_make_url(host, "postgres"), autocommit=True, connect_timeout=5) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))


def _not_started(host: Host, why: str) -> PostgresUnavailable:
    return PostgresUnavailable(
        f"PostgreSQL did not start in {host.data}: {why}; its log is {host.data / LOG_NAME}, and "
        "DATABASE_URL can name a PostgreSQL server of yours instead."
    )


def _last_lines(output: str) -> str:
    return " / ".join(output.strip().splitlines()[-3:])
