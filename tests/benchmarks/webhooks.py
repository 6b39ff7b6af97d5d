"""Webhooks as one worker process sends them: `python -m tests.benchmarks.webhooks`.

Writes the figures between the marks of docs/performance.md. The receiver is a process of its own on the same machine.
"""

import argparse
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

from tests.benchmarks.data import empty_database, headers_of, lift_limits
from tests.benchmarks.databases import DOCUMENT, ROOT, use_database
from tests.benchmarks.load import JSON
from tests.benchmarks.servers import running
from tests.support.figures import write_between
from tests.support.servers.workers import working

ENDPOINTS, MAX_SECONDS = 10, 120
OLD_EVENTS, WEBHOOKS_OF_OLD = 333_334, 3
OLD = f"""
INSERT INTO applications_event (event_id, application_id, store_id, type, timestamp, data)
SELECT gen_random_uuid(), %s, 'bench', 'order.received', now() - interval '31 days', '{{"Sequence": 1}}'
FROM generate_series(1, {OLD_EVENTS})
"""
OLD_DELIVERIES = """
INSERT INTO applications_delivery (event_id, webhook_id, state, tries, next_try, created)
SELECT e.id, w, 'Delivered', 1, NULL, e.timestamp
FROM applications_event e, unnest(%s::uuid[]) w WHERE e.timestamp < now() - interval '30 days'
"""
OLD_ATTEMPTS = """
INSERT INTO applications_deliveryattempt (delivery_id, timestamp, milliseconds, status_code, error, body)
SELECT id, created, 20, 200, '', 'ok' FROM applications_delivery
WHERE created < now() - interval '30 days'
"""


def main() -> int:
    arguments = _arguments()
    use_database("bench_webhooks", WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8", DEMO_ADVANCE_SECONDS="0")
    lines, before = [], os.getloadavg()[0]
    with _receiver() as receiver:
        for name, measure in MEASURES.items():
            if name in (arguments.only or MEASURES):
                lines += measure(receiver)
                print(*lines[-2:], sep="\n", flush=True)
    cores = os.cpu_count()
    head = f"All processes shared {cores} cores; load average {before:.1f} before and {os.getloadavg()[0]:.1f} after.\n"
    text = "\n".join([head, "| figure | measured | target |", "|---|---|---|", *lines, ""])
    print(text)
    if arguments.write and not arguments.only:
        write_between(DOCUMENT, "webhooks", text)
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(MEASURES))
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


@contextlib.contextmanager
def _receiver() -> Iterator["Receiving"]:
    command = [sys.executable, "-m", "tests.benchmarks.receiver"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    try:
        yield Receiving(int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


class Receiving:
    def __init__(self, port: int) -> None:
        self.port = port
        self.arrived: dict[tuple[str, str], tuple[float, float]] = {}

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def collect(self) -> None:
        """The first arrival of each delivery."""
        with urllib.request.urlopen(self.url("/report")) as response:
            for path, event_id, moment, delay in json.load(response):
                self.arrived.setdefault((path, event_id), (moment, delay))

    def wait_for(self, count: int) -> list[tuple[float, float]]:
        """What arrived where nothing hangs."""
        deadline = time.monotonic() + MAX_SECONDS
        while True:
            self.collect()
            arrivals = [value for (where, _), value in self.arrived.items() if where.startswith("/ok")]
            if len(arrivals) >= count:
                return sorted(arrivals)
            if time.monotonic() > deadline:
                raise RuntimeError(f"{len(arrivals)} of {count} arrived")
            time.sleep(0.2)


def _world(receiver: Receiving | None, *, good: int, hanging: int = 0) -> Any:
    """A fresh database with so many webhooks, `demo` open to everyone."""
    from tests.factories.orders import make_card, make_product
    from tests.factories.webhooks import make_webhook
    from tests.support.scenario import build_world

    empty_database()
    world = build_world()
    make_product(world.demo)
    make_card(world.demo)
    lift_limits()
    if receiver:
        receiver.collect()
        receiver.arrived.clear()
        for number in range(good):
            make_webhook(world.application, receiver.url(f"/ok/{number}"))
        for _ in range(hanging):
            make_webhook(world.application, receiver.url("/hang"))
    return world


def _tell(world: Any) -> None:
    from tests.factories.webhooks import make_event

    make_event(world.application, data={"At": time.time(), "Filler": "x" * 300})


def _rate(receiver: Receiving) -> list[str]:
    """What waits when the worker starts, from the first arrival to the last, and to the last job's end."""
    from procrastinate.contrib.django.models import ProcrastinateJob

    world, events = _world(receiver, good=ENDPOINTS), 300
    for _ in range(events):
        _tell(world)
    with working():
        moments = [moment for moment, _ in receiver.wait_for(events * ENDPOINTS)]
        while ProcrastinateJob.objects.filter(status="todo", scheduled_at=None).exists():
            time.sleep(0.1)
        ended = time.time()
    count = events * ENDPOINTS
    rate, with_jobs = count / (moments[-1] - moments[0]), count / (ended - moments[0])
    return [
        _line("deliveries per second, one worker", f"{rate:.0f}", "≥ 150", met=rate >= 150),
        _line("the same, until every job has finished", f"{with_jobs:.0f}", "≥ 150", met=with_jobs >= 150),
    ]


def _paced(world: Any, *, rate: float, seconds: float) -> int:
    started, count = time.monotonic(), int(rate * seconds)
    for number in range(count):
        time.sleep(max(0.0, started + number / rate - time.monotonic()))
        _tell(world)
    return count


def _latency(receiver: Receiving) -> list[str]:
    world = _world(receiver, good=1)
    with working():
        time.sleep(1)
        count = _paced(world, rate=20, seconds=20)
        delays = [delay * 1000 for _, delay in receiver.wait_for(count)]
    p50, p95 = statistics.median(delays), _p95(delays)
    return [
        _line("change to arrival at 20 events/s, p50", f"{p50:.0f} ms", "≤ 100 ms", met=p50 <= 100),
        _line("change to arrival at 20 events/s, p95", f"{p95:.0f} ms", "≤ 400 ms", met=p95 <= 400),
    ]


def _isolation(receiver: Receiving) -> list[str]:
    """The same load on ten endpoints; then one of them hangs, and the other nine are looked at."""
    figures = {}
    for hanging in (0, 1):
        world = _world(receiver, good=ENDPOINTS - hanging, hanging=hanging)
        with working():
            time.sleep(1)
            count = _paced(world, rate=8, seconds=12)
            delays = [delay * 1000 for _, delay in receiver.wait_for(count * (ENDPOINTS - hanging))]
        figures[hanging] = _p95(delays)
    times = figures[1] / figures[0]
    text = f"{times:.2f} × ({figures[0]:.0f} → {figures[1]:.0f} ms)"
    return [_line("p95 of nine endpoints while the tenth hangs", text, "≤ 2 ×", met=times <= 2)]


def _submissions(receiver: Receiving) -> list[str]:
    """What the events, deliveries and jobs add to a request; and, beside it, what sending takes from the cores."""
    from tests.factories.orders import card_data, order_body

    world = _world(receiver, good=3)
    headers = headers_of(world.application) | JSON
    card = order_body()
    card["Items"] = [{"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}]
    lines = []
    with running("ours") as server:
        for name, body in (("without template", order_body()), ("of a two-sided card", card)):
            post = _poster(server.port, headers, json.dumps(body).encode())
            text, ratio = _compared(post)
            title = f"an order {name}, with 3 webhooks, relative to none"
            lines.append(_line(title, text, "≤ 1.15 ×", met=ratio <= 1.15))
            with working():
                text, _ = _compared(post)
            lines.append(f"| the same while a worker sends them on the same cores | {text} | |")
    return lines


def _compared(post: Any) -> tuple[str, float]:
    """One order after the other, in pairs of blocks, without and with webhooks; medians."""
    from applications.webhooks.models import Webhook

    for _ in range(20):
        post()
    pairs = []
    for turn in range(8):
        medians = {}
        for subscribed in (False, True) if turn % 2 else (True, False):
            Webhook.objects.update(is_enabled=subscribed)
            medians[subscribed] = statistics.median(post() for _ in range(25))
        pairs.append((medians[True] / medians[False], medians[False], medians[True]))
    ratio, without, with_three = (statistics.median(values) for values in zip(*pairs, strict=True))
    return f"{ratio:.2f} × ({without:.1f} → {with_three:.1f} ms)", ratio


def _poster(port: int, headers: dict[str, str], body: bytes) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def post() -> float:
        started = time.perf_counter()
        connection.request("POST", "/api/v1/store/demo/order", body, headers)
        response = connection.getresponse()
        content = response.read()
        if response.status != 201:
            raise RuntimeError(content)
        return (time.perf_counter() - started) * 1000

    return post


def _pruning(receiver: Receiving) -> list[str]:
    """A million deliveries, while events go on being written beside."""
    from django.db import connection

    from applications.webhooks.models import Delivery
    from applications.webhooks.services.retention import retention_rules
    from fulfillment.operations.retention import prune
    from tests.factories.webhooks import make_webhook

    world = _world(None, good=0)
    webhooks = [make_webhook(world.application) for _ in range(WEBHOOKS_OF_OLD)]
    with connection.cursor() as cursor:
        cursor.execute(OLD, [world.application.pk])
        cursor.execute(OLD_DELIVERIES, [[webhook.pk for webhook in webhooks]])
        cursor.execute(OLD_ATTEMPTS)
        cursor.execute("VACUUM ANALYZE")
    count = Delivery.objects.count()
    result: dict[str, float] = {}

    def work() -> None:
        started = time.monotonic()
        prune(rules=retention_rules())
        result["seconds"] = time.monotonic() - started
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    waits = []
    while thread.is_alive():
        started = time.perf_counter()
        _tell(world)
        waits.append((time.perf_counter() - started) * 1000)
        time.sleep(0.02)
    thread.join()
    left = Delivery.objects.filter(state="Delivered").count()
    if left:
        raise RuntimeError(f"{left} old deliveries were left")
    seconds = result["seconds"]
    wait = f"{_p95(waits):.0f} ms p95, {max(waits):.0f} ms at most"
    return [
        _line(f"prune of {count:,} old deliveries", f"{seconds:.0f} s", "≤ 60 s", met=seconds <= 60),
        _line("writing an event during the prune", wait, "≤ 1000 ms", met=max(waits) <= 1000),
    ]


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def _line(name: str, value: str, mark: str, *, met: bool) -> str:
    return f"| {name} | {value} | {mark}{'' if met else ' **(missed)**'} |"


MEASURES = {
    "rate": _rate,
    "latency": _latency,
    "isolation": _isolation,
    "submissions": _submissions,
    "pruning": _pruning,
}

if __name__ == "__main__":
    sys.exit(main())
