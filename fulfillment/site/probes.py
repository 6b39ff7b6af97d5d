"""Liveness and readiness probes."""

import os
import secrets
import socket
import time
from collections.abc import Callable

from django.core.cache import cache
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from fulfillment.core.api.errors import DATABASE_UNAVAILABLE, logger
from fulfillment.core.plugins import offered

# Cached, because load balancers call often and storages may bill each request.
STORAGE_SECONDS = 10.0

_storage: tuple[float, str] = (0.0, "")


@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers; nothing else is checked."""
    return JsonResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answers 503 with the reason if the database, its migrations, the file storage or the workers are not ready.

    A web process can serve without a worker: load balancers use `?worker=0`.
    """
    checks = {"database": _database()}
    if not checks["database"]:
        checks |= {"migrations": _migrations(), "storage": _storage_failure(), **_of_apps()}
    ignored = {"worker"} if request.GET.get("worker") == "0" else set()
    failures = [checks[name] for name in checks if name not in ignored and checks[name]]
    headers = {"Cache-Control": "no-store"}
    reported = {name: failure or "ok" for name, failure in checks.items()}
    if failures:
        body = {"status": "unavailable", "reason": failures[0], "checks": reported}
        return JsonResponse(body, status=503, headers={**headers, "Retry-After": "5"})
    return JsonResponse({"status": "ready", "checks": reported}, headers=headers)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DATABASE_UNAVAILABLE:
        return "the database does not answer"
    return ""


def _migrations() -> str:
    # Complete migrations stay complete during the process.
    if cache.get("migrations_complete"):
        return ""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        return "migrations are missing"
    cache.set("migrations_complete", True, timeout=None)
    return ""


def _storage_failure() -> str:
    """The failure of the last storage probe, repeated every ten seconds: a file is written, read and removed."""
    global _storage
    until, failure = _storage
    if time.monotonic() >= until:
        failure = _probe_storage()
        _storage = (time.monotonic() + STORAGE_SECONDS, failure)
    return failure


def _probe_storage() -> str:
    name = f"health/{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    content = secrets.token_bytes(16)
    try:
        name_in_storage = default_storage.save(name, ContentFile(content))
        try:
            with default_storage.open(name_in_storage) as file:
                read = file.read()
        finally:
            default_storage.delete(name_in_storage)
    except Exception as error:  # noqa: BLE001 - storages fail in their own ways, and each is the same to us
        logger.warning("The storage of files fails: %s: %s", type(error).__name__, error)
        return "files cannot be written and read"
    return "" if read == content else "files are not read as they were written"


def _of_apps() -> dict[str, str]:
    """The failures of the apps' `PROBES` in module `health`: (name, function that returns a failure)."""
    return {name: _safely(probe) for probes in offered("health", "PROBES") for name, probe in probes.items()}


def _safely(probe: Callable[[], str]) -> str:
    try:
        return probe()
    except DATABASE_UNAVAILABLE:
        return "the database does not answer"
