"""The service under attack: web processes and a worker, what they hold in memory and what they have computed."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.benchmarks.processes import descendants, processor_seconds, proportional
from tests.benchmarks.servers import Server, running
from tests.benchmarks.soak_scene import worker
from tests.support.patience import wait_for

# As without settings, other than soak_scene.LIMITS. Mails go nowhere.
ENVIRONMENT = {
    "ADDRESS_REQUESTS_PER_MINUTE": "600",
    "PAGES_PER_MINUTE": "600",
    "ADDRESS_PAGES_PER_MINUTE": "300",
    "TOKEN_FAILURES_PER_MINUTE": "30",
    "SIGN_UP_ENABLED": "1",
    "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
    "LOG_LEVEL": "ERROR",
}


@dataclass
class Service:
    server: Server
    work: subprocess.Popen[bytes]

    def memory(self) -> dict[str, float]:
        """In MB; what processes share counts once."""
        return {name: _memory(pid) for name, pid in (("web", self.server.pid), ("worker", self.work.pid))}

    def processor(self) -> float:
        return processor_seconds(self.server.pid) + processor_seconds(self.work.pid)

    def kill(self) -> None:
        """At once: what a stalled service still has to do is of no interest."""
        for pid in (self.server.pid, self.work.pid):
            family = [pid, *descendants(pid)]
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            for each in family:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)


@contextlib.contextmanager
def serving(*, processes: int, environment: Mapping[str, str] | None = None) -> Iterator[Service]:
    """As shipped, eight threads in each process. No worker may be known from before."""
    from applications.webhooks.selectors.deliveries import worker_health

    variables = {**ENVIRONMENT, **(environment or {})}
    with (
        tempfile.TemporaryFile() as log,
        running("ours", workers=processes, threads=8, environment=variables, log=log) as server,
        worker(output=log, **variables) as work,
    ):
        service = Service(server, work)
        try:
            wait_for(lambda: worker_health().alive)
            yield service
        finally:
            service.kill()


def _memory(pid: int) -> float:
    return sum(map(proportional, [pid, *descendants(pid)]))
