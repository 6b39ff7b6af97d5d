"""What the request log costs of a request: processor time of this process and of its connection to PostgreSQL.

    .venv/bin/python -m pytest -q -n 0 -s tests/benchmarks/request_log.py

Reads of a store's products are made without the log; then as many calls are noted, and written as a serving process
does it, many in one statement.
"""

import time
from pathlib import Path

import pytest
from django.db import connection

from applications.metrics import record_request
from applications.registration.services.request_log import flush_request_log
from fulfillment.site import instrumentation
from tests.support.scenario import build_known_world

REQUESTS, A_FLUSH = 1_500, 500


@pytest.mark.django_db(transaction=True)
def test_cost_of_the_log(settings, capsys, monkeypatch):
    world = build_known_world()
    world.application.subscription.requests_per_minute = 1_000_000
    world.application.subscription.save()
    client = world.as_application()
    settings.REQUEST_LOG_DAYS = 0
    seen = []
    observe = instrumentation.observe
    monkeypatch.setattr(instrumentation, "observe", lambda *given: (seen.append(given), observe(*given)))
    client.call("GET", "/store/associated/product")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        clocks = Clocks(Path(f"/proc/{cursor.fetchone()[0]}/stat"))

    for _ in range(REQUESTS):
        client.call("GET", "/store/associated/product")
    request_cost = clocks.spent() / REQUESTS
    settings.REQUEST_LOG_DAYS = 7
    request, response, _, request_id = seen[-1]
    clocks.spent()
    for number in range(1, REQUESTS + 1):
        record_request(request, response, request.auth, 0.001, request_id)
        if number % A_FLUSH == 0:
            assert flush_request_log() == A_FLUSH
    cost = clocks.spent() / REQUESTS

    share = 100 * cost / request_cost
    with capsys.disabled():
        print(f"\n{1e6 * request_cost:.0f} µs a request, {1e6 * cost:.0f} µs of the log: {share:.1f} %")


class Clocks:
    def __init__(self, stat: Path) -> None:
        self.stat = stat
        self.before = self._now()

    def spent(self) -> float:
        """Seconds of both processes since the last time."""
        before, self.before = self.before, self._now()
        return self.before - before

    def _now(self) -> float:
        fields = self.stat.read_text().rpartition(")")[2].split()
        return time.process_time() + (int(fields[11]) + int(fields[12])) / 100
