"""PostgreSQL is restarted under a worker that delivers webhooks: how soon it works again, and what it logs."""

import os
import signal
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import IO, Any

from tests.benchmarks.soak_recovery import look_for_server
from tests.benchmarks.soak_scene import FOLDER, fresh_world, rows, worker
from tests.support.patience import PATIENCE
from tests.support.webhook_receiver import receiving

RESTARTS, EVENTS_A_SECOND = 20, 20
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


def measure(restarts: int = RESTARTS) -> list[str]:
    from tests.factories.webhooks import make_webhook

    world = fresh_world()
    seconds: list[float] = []
    with receiving() as receiver, tempfile.TemporaryFile() as log:
        make_webhook(world.application, receiver.url())
        with worker(output=log) as process:
            _seconds_until_heartbeat(0.0, PATIENCE)
            events = Events(world.application)
            writing = threading.Thread(target=events.write)
            writing.start()
            for number in range(restarts):
                time.sleep(LOAD_SECONDS)
                back = restart(("fast", "immediate", "killed")[number % 3])
                seconds.append(_seconds_until_heartbeat(back, HEARTBEAT_SECONDS * 3))
            time.sleep(LOAD_SECONDS)
            events.over.set()
            writing.join()
            undelivered = _undelivered()
            lives = process.poll() is None
        arrived = len({one.event["EventID"] for one in receiver.received})
        return _report(seconds, events.written, arrived, undelivered, lives=lives, log=log)


def _report(
    seconds: list[float], written: int, arrived: int, undelivered: int, *, lives: bool, log: IO[bytes]
) -> list[str]:
    log.seek(0)
    text = log.read().decode(errors="replace")
    stacks, logged = text.count("Traceback"), len(text.splitlines())
    lines = [
        f"{len(seconds)} restarts: a heartbeat {statistics.median(seconds):.1f} s (median) and {max(seconds):.1f} s "
        f"(longest) after the database was back; {arrived} events delivered; {logged} lines logged, {stacks} stacks"
    ]
    wrong = {
        f"a heartbeat took {max(seconds):.1f} s": max(seconds) > HEARTBEAT_SECONDS,
        "the worker ended": not lives,
        f"{undelivered} deliveries wait, {arrived} of {written} events arrived": undelivered
        or arrived < written,
        f"{logged} lines and {stacks} stacks were logged": stacks or logged > LINES * len(seconds),
    }
    lines += [f"FAILED: {what}" for what, is_so in wrong.items() if is_so]
    print(*lines, sep="\n", flush=True)
    return lines


def restart(how: str) -> float:
    """Returns when the server first accepts a connection."""
    from fulfillment.local.postgres_layout import find_host

    host = find_host(FOLDER.resolve())
    if how == "killed":
        os.kill(int((host.data / "postmaster.pid").read_text().split("\n", 1)[0]), signal.SIGKILL)
    else:
        host.run("pg_ctl", "stop", "-D", str(host.data), "-m", how, "-w")
    back: list[float] = []
    looking = threading.Thread(target=look_for_server, args=(back,))
    looking.start()
    deadline = time.monotonic() + PATIENCE
    # Those a killed one left behind hold its memory until they notice.
    while host.run("pg_ctl", "start", "-D", str(host.data), "-l", str(host.data / "log"), "-w").returncode:
        if time.monotonic() > deadline:
            raise RuntimeError("PostgreSQL does not start again")
    looking.join()
    return back[0]


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


def _undelivered() -> int:
    from applications.webhooks.models import Delivery

    deadline = time.monotonic() + PATIENCE
    while (left := Delivery.objects.exclude(state="Delivered").count()) and time.monotonic() < deadline:
        time.sleep(0.5)
    return left
