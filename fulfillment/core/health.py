"""Health checks of the service: for /readyz, /metrics and `check --deploy`."""

import mmap
import os
import secrets
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import ProgrammingError, connection
from django.db.migrations.executor import MigrationExecutor

from fulfillment.core.api.errors import DATABASE_UNAVAILABLE, logger
from fulfillment.core.errors import find_shortage
from fulfillment.core.observability.instruments import had_no_room, note_refusal
from fulfillment.core.plugins import offered_values
from printing.bounded import ROOM_BYTES

# Checks of other machines are cached, because load balancers call often and storages may bill each request. A check
# waits for PATIENT_SECONDS, then reports its last result; after LATE_SECONDS it reports that the machine is too slow.
CACHED_SECONDS, PATIENT_SECONDS, LATE_SECONDS = 10.0, 3.0, 10.0
CLOCK_SECONDS = 30.0
SOME_MEMORY = 16 << 20


class CachedProbe:
    """The last failure found by `probe`, which runs in its own thread so that no request waits for a slow machine."""

    def __init__(self, probe: Callable[[], str], late_failure: str) -> None:
        self._probe, self._late_failure = probe, late_failure
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=probe.__name__)
        self.forget()

    def forget(self) -> None:
        self._running: Future[str] | None = None
        self._began, self._until, self._failure = 0.0, 0.0, ""

    def failure(self) -> str:
        if time.monotonic() < self._until:
            return self._failure
        # Another thread may forget it at any moment.
        if (running := self._running) is None:
            running = self._pool.submit(self._probe)
            self._began, self._running = time.monotonic(), running
        try:
            self._failure = running.result(max(0.0, self._began + PATIENT_SECONDS - time.monotonic()))
            self._running, self._until = None, time.monotonic() + CACHED_SECONDS
        except TimeoutError:
            if time.monotonic() - self._began > LATE_SECONDS:
                self._failure = self._late_failure
        except BaseException:
            self._running = None
            raise
        return self._failure


def check_names() -> set[str]:
    """The names of all checks, including those that do not run while the database is unavailable."""
    apps = {name for probes in offered_values("metrics", "PROBES") for name in probes}
    return {"database", "migrations", "room", "clock", "temporary", "process", "storage", "names"} | apps


def failures_by_check() -> dict[str, str]:
    """The failure of each check, or "". Without the database, only the checks that need none run."""
    database_failure, seconds_ahead = _check_database()
    failures = {"database": database_failure}
    if not database_failure:
        failures |= {
            "migrations": _check_migrations(),
            "room": "the disk of the database is full" if had_no_room() else "",
            "clock": _check_clock(seconds_ahead),
        }
        for probes in offered_values("metrics", "PROBES"):
            failures |= {name: _run_probe(probe) for name, probe in probes.items()}
    return failures | {
        "storage": STORAGE.failure(),
        "names": NAMES.failure(),
        "temporary": _check_temporary_files(),
        "process": _check_process(),
    }


def _check_database() -> tuple[str, float]:
    """The database's failure, and the seconds by which this machine's clock is ahead of its clock."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT extract(epoch FROM clock_timestamp())::float8")
            return "", time.time() - cursor.fetchone()[0]
    except DATABASE_UNAVAILABLE as error:
        if note_refusal(error) == "connections":
            return "the database has no connection left", 0.0
        return "the database does not answer", 0.0


def _check_temporary_files() -> str:
    free = shutil.disk_usage(tempfile.gettempdir()).free
    return "the disk of temporary files is full" if free < ROOM_BYTES else ""


def _check_process() -> str:
    """Whether this process can open another file and get more memory."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
        mmap.mmap(-1, SOME_MEMORY).close()
    except (OSError, MemoryError) as error:
        shortage = find_shortage(error)
        return f"the process has no {shortage.name} left" if shortage else str(error)
    return ""


def _check_clock(seconds_ahead: float) -> str:
    if abs(seconds_ahead) < CLOCK_SECONDS:
        return ""
    where = "ahead of" if seconds_ahead > 0 else "behind"
    return f"the clock of this machine is {abs(seconds_ahead):.0f} s {where} the clock of the database"


def _check_migrations() -> str:
    complete = cache.get("migrations_complete")
    if complete is None:
        executor = MigrationExecutor(connection)
        complete = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        # Complete migrations stay complete during the process.
        cache.set("migrations_complete", complete, timeout=None if complete else CACHED_SECONDS)
    return "" if complete else "migrations are missing"


def _probe_storage() -> str:
    """Writes a file, reads it and removes it."""
    name = f"health/{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    content = secrets.token_bytes(16)
    try:
        name_in_storage = default_storage.save(name, ContentFile(content))
        try:
            with default_storage.open(name_in_storage) as file:
                stored = file.read()
        finally:
            default_storage.delete(name_in_storage)
    except Exception as error:  # noqa: BLE001 - storages fail in their own ways, and each is the same to us
        logger.warning("The storage of files fails: %s: %s", type(error).__name__, error)
        return "files cannot be written and read"
    return "" if stored == content else "files are not read as they were written"


def _probe_names() -> str:
    """The hosts of the settings: the database, the mail server and the bucket."""
    bucket = urlsplit(getattr(default_storage, "endpoint_url", None) or "").hostname
    for host in (str(connection.settings_dict["HOST"]), settings.EMAIL_HOST, bucket):
        try:
            if host and not host.startswith("/"):
                socket.getaddrinfo(host, None)
        # Python refuses names with an empty or too long label before any lookup.
        except (OSError, UnicodeError) as error:
            logger.warning("The name %s is not found: %s", host, error)
            return "names of other machines are not found"
    return ""


STORAGE = CachedProbe(_probe_storage, "files are written and read too slowly")
NAMES = CachedProbe(_probe_names, "names of other machines are found too slowly")


def _run_probe(probe: Callable[[], str]) -> str:
    try:
        return probe()
    except ProgrammingError:
        return "the database does not have the tables of this release"
    except DATABASE_UNAVAILABLE:
        return "the database does not answer"
