"""The service as in production: worker processes of Granian, on the database of the test."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import requests
from django.conf import settings

from tests.support.database.address import address_of
from tests.support.patience import PATIENCE
from tests.support.servers.granian import granian_command
from tests.support.servers.ports import free_port
from tests.support.servers.processes import end_group

ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Served:
    """A running service; `log` is the file of everything it wrote."""

    url: str
    log: Path
    start: Callable[[], subprocess.Popen[bytes]]

    def __post_init__(self) -> None:
        self.process = self.start()

    def restart(self) -> None:
        self.stop()
        self.process = self.start()
        _wait_until_ready(self)

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            raise


@contextlib.contextmanager
def serving(
    folder: Path,
    *,
    workers: int = 1,
    threads: int = 8,
    database: str = "",
    options: Sequence[str] = (),
    **environment: str,
) -> Iterator[Served]:
    """Serves until the block ends; `environment` overrides the service's variables, `database` its address.

    `options` are more of Granian's.
    """
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [
        *granian_command(port, workers=workers, threads=threads),
        *options,
        "fulfillment.wsgi:application",
    ]
    log = folder / f"served-{port}.log"
    variables = (
        served_environment(url, database or address_of()) | {"WEB_THREADS": str(threads)} | environment
    )

    def start() -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            return subprocess.Popen(
                command, cwd=ROOT, env=variables, stdout=output, stderr=output, start_new_session=True
            )

    served = Served(url, log, start)
    try:
        _wait_until_ready(served)
        yield served
    finally:
        end_group(served.process)


def served_environment(url: str, database: str) -> dict[str, str]:
    secrets = {name: os.environ[name] for name in ("SECRET_KEY", "FULFILLMENT_PEPPERS")}
    return {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        **secrets,
        "FULFILLMENT_ENCRYPTION_KEYS": os.environ["FULFILLMENT_ENCRYPTION_KEYS"],
        "FULFILLMENT_MODE": "development",
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "DATABASE_URL": database,
        "PUBLIC_URL": url,
        "MEDIA_ROOT": str(settings.MEDIA_ROOT),
    }


def _wait_until_ready(served: Served) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert served.process.poll() is None, served.log.read_text()
        with contextlib.suppress(requests.RequestException):
            if requests.get(f"{served.url}/healthz", timeout=30).ok:
                return
        time.sleep(0.1)
    raise AssertionError(served.log.read_text())
