"""Half load for hours: what memory and tables do.

Rows are kept for hours or weeks before they are pruned. Here everything older than `AGED` is made old enough, so
that as much goes as comes, and prune runs every few minutes as the worker's clock has it run every day.
"""

import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import requests

from tests.benchmarks.processes import descendants, resident
from tests.benchmarks.servers import Server, running
from tests.benchmarks.soak_scene import Caller, form, fresh_world, new_party, rows, worker
from tests.support.webhook_receiver import receiving

MARK = "memory + 5 % at most, tables that are pruned + 10 % (or 200 kB) at most, of the second quarter"
THREADS, MEASURED_SECONDS, SAMPLE_SECONDS, PRUNE_SECONDS = 4, 20, 15, 180
MEMORY_MARK, TABLE_MARK = 1.05, 1.10
# A small table, or one of its indexes, may happen to be some pages larger at one of two moments.
TABLE_BYTES = 200_000
AGED = "interval '3 minutes'"
AGEING = (
    f"UPDATE accounts_idempotentanswer SET created = created - interval '9 days' WHERE created < now() - {AGED}",
    f"UPDATE accounts_ratewindow SET started = started - interval '1 day' WHERE started < now() - {AGED}",
    f"UPDATE applications_event SET timestamp = timestamp - interval '99 days' WHERE timestamp < now() - {AGED}",
    f"UPDATE stores_quote SET expires = expires - interval '99 days' WHERE created < now() - {AGED}",
    "UPDATE oauth2_provider_refreshtoken SET revoked = revoked - interval '999 days' "
    f"WHERE revoked < now() - {AGED}",
    "UPDATE oauth2_provider_accesstoken SET expires = expires - interval '999 days' "
    f"WHERE application_id = %s AND created < now() - {AGED}",
)
PRUNED = (
    "accounts_idempotentanswer",
    "accounts_ratewindow",
    "applications_delivery",
    "applications_deliveryattempt",
    "applications_event",
    "oauth2_provider_accesstoken",
    "oauth2_provider_refreshtoken",
    "procrastinate_events",
    "procrastinate_jobs",
    "stores_quote",
)
SIZES = "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relname = ANY(%s)"


@dataclass
class Load:
    """Threads that send a mixture of requests: as fast as they can, or `rate` a second."""

    world: Any
    party: Any
    url: str
    rate: float = 0
    statuses: Counter[int] = field(default_factory=Counter)
    stopped: threading.Event = field(default_factory=threading.Event)
    _sent: int = 0
    _began: float = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run_for(self, seconds: float, meanwhile: Callable[[], None] = lambda: None) -> float:
        """Requests a second that were answered."""
        self._began, self._sent = time.monotonic(), 0
        self.stopped.clear()
        threads = [threading.Thread(target=self._send, daemon=True) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        try:
            while (left := self._began + seconds - time.monotonic()) > 0:
                time.sleep(min(left, SAMPLE_SECONDS, seconds / 40))
                meanwhile()
        finally:
            self.stopped.set()
        for thread in threads:
            thread.join()
        return self._sent / (time.monotonic() - self._began)

    def _send(self) -> None:
        from django.db import connection

        acts, renewed = self._acts(), time.monotonic()
        while not self.stopped.is_set():
            # An access token is good for an hour.
            if time.monotonic() - renewed > 1800:
                acts, renewed = self._acts(), time.monotonic()
            with self._lock:
                number, self._sent = self._sent, self._sent + 1
            if self.rate and self.stopped.wait(max(0.0, self._began + number / self.rate - time.monotonic())):
                break
            try:
                self.statuses[acts[number % len(acts)]().status_code] += 1
            except requests.RequestException:
                self.statuses[0] += 1
        connection.close()

    def _acts(self) -> list[Callable[[], requests.Response]]:
        from tests.factories.orders import order_body

        buyer, store = Caller(self.url, self.world.as_application()), "/store/associated"
        asked = {"Items": order_body()["Items"], "ShipTo": {"CountryCode": "US"}}

        def order() -> requests.Response:
            return buyer.call("POST", f"{store}/order", order_body(), **{"Idempotency-Key": str(uuid4())})

        return [
            lambda: buyer.call("GET", store),
            lambda: buyer.call("GET", f"{store}/product"),
            lambda: buyer.call("GET", f"{store}/order/exportview?take=50"),
            lambda: buyer.call("POST", f"{store}/quote", asked),
            order,
            lambda: form(self.url, self.party, grant_type="client_credentials"),
            lambda: form(self.url, self.party, grant_type="refresh_token", refresh_token=str(uuid4())),
            lambda: buyer.call("GET", "/store"),
        ]


@dataclass
class Watch:
    """Samples by their moment, and the pruning."""

    server: Server
    work: int
    party: Any
    seconds: float
    began: float = field(default_factory=time.monotonic)
    samples: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    pruned: float = field(default_factory=time.monotonic)

    def look(self) -> None:
        if time.monotonic() - self.pruned > min(PRUNE_SECONDS, self.seconds / 20):
            self._prune()
        worker_memory = sum(map(resident, [self.work, *descendants(self.work)]))
        found = {"memory of web, MB": self.server.memory(), "memory of worker, MB": worker_memory}
        found |= {name: float(size) for name, size in rows(SIZES, [list(PRUNED)])}
        self.samples.append(((time.monotonic() - self.began) / self.seconds, found))

    def _prune(self) -> None:
        from django.db import connection

        from fulfillment.core.errors import DomainError
        from fulfillment.operations.retention import prune

        with connection.cursor() as cursor:
            for statement in AGEING:
                cursor.execute(statement, [self.party.application.pk] if "%s" in statement else None)
        # The worker may be at it.
        with suppress(DomainError):
            prune()
        self.pruned = time.monotonic()

    def lines(self) -> list[str]:
        early, late = self._quarter(0.25, 0.5), self._quarter(0.75, 1.01)
        lines = []
        for name, first in early.items():
            is_memory = name.startswith("memory")
            most = first * MEMORY_MARK if is_memory else max(first * TABLE_MARK, first + TABLE_BYTES)
            grown = late[name] > most
            shown = "{:.0f}" if is_memory else "{:,.0f} bytes"
            lines.append(
                f"{'FAILED: ' if grown else ''}{name}: {shown.format(first)} in the second quarter, "
                f"{shown.format(late[name])} in the last ({late[name] / max(first, 1) - 1:+.1%})"
            )
        return lines

    def _quarter(self, start: float, end: float) -> dict[str, float]:
        found = [values for moment, values in self.samples if start <= moment < end]
        return {name: statistics.median(values[name] for values in found) for name in found[0]}


def measure(minutes: float) -> list[str]:
    from tests.factories.webhooks import make_webhook

    world, party = fresh_world(), new_party()
    with (
        receiving() as receiver,
        running("ours", workers=2) as server,
        worker() as work,
    ):
        make_webhook(world.application, receiver.url())
        load = Load(world, party, server.url)
        most = load.run_for(MEASURED_SECONDS)
        load.rate, load.statuses = most / 2, Counter()
        watch = Watch(server, work.pid, party, minutes * 60)

        def look() -> None:
            receiver.received.clear()
            watch.look()

        reached = load.run_for(minutes * 60, look)
    lines = [
        f"{minutes:g} minutes at {reached:.0f} requests a second, the most being {most:.0f}; "
        f"answers {dict(sorted(load.statuses.items()))}",
        *watch.lines(),
    ]
    if bad := sum(count for status, count in load.statuses.items() if not status or status >= 500):
        lines.append(f"FAILED: {bad} requests were answered 5xx or not at all")
    print(*lines, sep="\n", flush=True)
    return lines
