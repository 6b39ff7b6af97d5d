"""Real `manage.py worker` processes on the database of the test.

Run as a module it is that command with a shorter lease, so that tests of crashes need not wait for 40 seconds.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support.database.address import address_of
from tests.support.patience import PATIENCE, wait_for

ROOT = Path(__file__).parents[3]
LEASE = "TEST_LEASE_SECONDS"


def worker_environment(**more: str) -> dict[str, str]:
    """Of a process that works on the test's database, and may send to this machine."""
    from django.conf import settings

    return {
        **os.environ,
        "DATABASE_URL": address_of(),
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "DEMO_ADVANCE_SECONDS": "0",
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1",
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
        **more,
    }


def start_worker(output: Any = None, **more: str) -> subprocess.Popen[bytes]:
    variables = worker_environment(**more)
    command = ["-m", "tests.support.servers.workers"] if LEASE in variables else ["manage.py", "worker"]
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=variables,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


def forget_jobs() -> None:
    """Procrastinate's tables have no models, and stay as they are between tests."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE procrastinate_jobs, procrastinate_workers CASCADE")


@contextlib.contextmanager
def working(count: int = 1, output: Any = None, **more: str) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many workers, ready for work; the list may be changed, and all in it end with the block."""
    from applications.webhooks.selectors.deliveries import alive_workers

    workers = [start_worker(output, **more) for _ in range(count)]
    try:
        wait_for(lambda: alive_workers() >= count)
        yield workers
    finally:
        for worker in workers:
            stop(worker)


def stop(worker: subprocess.Popen[bytes]) -> int:
    worker.send_signal(signal.SIGTERM)
    try:
        return worker.wait(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()
        raise


def kill(worker: subprocess.Popen[bytes]) -> None:
    worker.kill()
    worker.wait()


def main() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    from applications.webhooks.services import delivery_attempts

    delivery_attempts.LEASE = timedelta(seconds=float(os.environ[LEASE]))
    call_command("worker")


if __name__ == "__main__":
    main()
