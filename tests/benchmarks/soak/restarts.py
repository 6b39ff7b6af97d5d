"""PostgreSQL is restarted under a worker that delivers webhooks: how soon it works again, and what it logs."""

import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.benchmarks.soak.scene import fresh_world, restart_postgres, rows, wait_until_delivered
from tests.support.servers.webhook_receiver import receiving
from tests.support.servers.workers import working

EVENTS_A_SECOND = 20
LOAD_SECONDS = 2.0
HEARTBEAT_SECONDS, LINES = 10.0, 30
MARK = (
    f"a heartbeat within {HEARTBEAT_SECONDS:.0f} s each time, by the same process; every event delivered; "
    f"no stack and at most {LINES} lines logged a restart"
)
AGES = "SELECT min(extract(epoch FROM now() - last_heartbeat)) FROM procrastinate_workers"


@dataclass
class Events:
    """Written at an even rate, each with a job and a delivery; what the database did not take is not counted."""

    application: Any
    written: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    def write(self) -> None:
        from django.db import Error, connection

        from tests.factories.webhooks import make_event

        while not self.over.wait(1 / EVENTS_A_SECOND):
            try:
                make_event(self.application)
                self.written += 1
            except Error:
                connection.close()
        connection.close()


def measure(count: int = 20) -> Iterator[str]:
    from tests.factories.webhooks import make_webhook

    world = fresh_world()
    seconds: list[float] = []
    with receiving() as receiver, tempfile.TemporaryFile() as log:
        make_webhook(world.application, receiver.url())
        with working(output=log) as [worker]:
            events = Events(world.application)
            writing = threading.Thread(target=events.write)
            writing.start()
            for number in range(count):
                time.sleep(LOAD_SECONDS)
                back = restart_postgres(("killed", "fast", "immediate")[number % 3])
                seconds.append(_seconds_until_heartbeat(back, HEARTBEAT_SECONDS * 3))
            time.sleep(LOAD_SECONDS)
            events.over.set()
            writing.join()
            undelivered = wait_until_delivered()
            lives = worker.poll() is None
        arrived = len({delivery.event["EventID"] for delivery in receiver.received})
        log.seek(0)
        text = log.read().decode(errors="replace")
    stacks, logged = text.count("Traceback"), len(text.splitlines())
    yield (
        f"{count} restarts: a heartbeat {statistics.median(seconds):.1f} s (median) and {max(seconds):.1f} s "
        f"(longest) after the database was back; {arrived} events delivered; {logged} lines logged, {stacks} stacks"
    )
    wrong = {
        f"a heartbeat took {max(seconds):.1f} s": max(seconds) > HEARTBEAT_SECONDS,
        "the worker ended": not lives,
        f"{undelivered} deliveries wait, {arrived} of {events.written} events arrived": undelivered
        or arrived < events.written,
        f"{logged} lines and {stacks} stacks were logged": stacks or logged > LINES * count,
    }
    yield from (f"FAILED: {what}" for what, is_so in wrong.items() if is_so)


def _seconds_until_heartbeat(back: float, patience: float) -> float:
    """From the moment the database was back to one that was written since."""
    from django.db import Error, connection

    began = time.monotonic()
    while time.monotonic() - began < patience:
        now = time.monotonic()
        try:
            age = rows(AGES)[0][0]
        except Error:
            connection.close()
            age = None
        if age is not None and now - float(age) > back:
            return max(0.0, now - float(age) - back)
        time.sleep(0.1)
    return patience
