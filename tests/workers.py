"""Real `manage.py worker` processes on the database of the test."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from applications.selectors.workers import worker_health

ROOT = Path(__file__).parent.parent
START_SECONDS = 30


def worker_environment(**more: str) -> dict[str, str]:
    """Of a process that works on the test's database, and may send to this machine."""
    database = connection.settings_dict
    place = f"host={quote(database['HOST'], safe='')}&port={database['PORT'] or 5432}"
    return {
        **os.environ,
        "DATABASE_URL": f"postgresql://{database['USER']}@/{database['NAME']}?{place}",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1",
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        **more,
    }


def start_worker(**more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "worker"],
        cwd=ROOT,
        env=worker_environment(**more),
        start_new_session=True,
    )


def wait_until_working(count: int = 1) -> None:
    deadline = time.monotonic() + START_SECONDS
    while worker_health().alive < count:
        assert time.monotonic() < deadline, "no worker is alive"
        time.sleep(0.05)


@contextlib.contextmanager
def working(count: int = 1, **more: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    workers = [start_worker(**more) for _ in range(count)]
    try:
        wait_until_working(count)
        yield workers
    finally:
        for worker in workers:
            stop(worker)


def stop(worker: subprocess.Popen[bytes]) -> None:
    worker.send_signal(signal.SIGTERM)
    try:
        worker.wait(timeout=15)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def kill(worker: subprocess.Popen[bytes]) -> None:
    worker.kill()
    worker.wait()
