"""1,000 events while workers are killed, and PostgreSQL and its backends: `python -m tests.benchmarks.crashes`.

A backend killed with -9 makes PostgreSQL end all others and recover from its log.

Every event must arrive, and the order of each order's news must be recoverable by Sequence.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from typing import Any

from tests.benchmarks.webhooks import ROOT, _prepare, _receiver, _world

ORDERS, STEPS, WORKERS = 50, 20, 3
# Steps after which a backend is killed.
BACKENDS_KILLED_AFTER = {3, 6, 9, 13, 16, 19}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    _prepare()
    chance = random.Random(arguments.seed)
    with _receiver() as receiver:
        world = _world(receiver, good=1)
        workers = [_start() for _ in range(WORKERS)]
        try:
            kills = _tell_and_kill(world, workers, chance)
            ended = time.monotonic()
            _wait_until_delivered()
            recovered = time.monotonic() - ended
            receiver.collect()
        finally:
            for worker in workers:
                worker.terminate()
                worker.wait(timeout=30)
        missing = _missing(receiver)
    print(
        f"{ORDERS * STEPS} events, {kills} workers and {len(BACKENDS_KILLED_AFTER)} backends of PostgreSQL killed, it "
        f"restarted: {len(missing)} lost; the last arrived"
    )
    load = os.getloadavg()[0]
    print(f"{recovered:.0f} s after the last accident (≤ 60 s); load average {load:.1f}")
    return bool(missing) or recovered > 60


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT)


def _tell_and_kill(world: Any, workers: list[subprocess.Popen[bytes]], chance: random.Random) -> int:
    from django.db import Error, connection

    from tests.factories.webhooks import make_event

    kills = 0
    for step in range(1, STEPS + 1):
        for order in range(ORDERS):
            while True:
                # The service answers 503 while PostgreSQL is away, and its client asks again.
                try:
                    make_event(world.application, data={"OrderID": order, "Sequence": step})
                    break
                except Error:
                    connection.close()
                    time.sleep(0.1)
        time.sleep(chance.uniform(0, 1.5))
        victim = workers.pop(chance.randrange(len(workers)))
        victim.kill()
        victim.wait()
        workers.append(_start())
        kills += 1
        if step == STEPS // 2:
            _restart_postgres()
        if step in BACKENDS_KILLED_AFTER:
            _kill_backend(chance)
    return kills


def _restart_postgres() -> None:
    from fulfillment.local.postgres_layout import find_host

    host = find_host((ROOT / "var" / "bench-webhooks-postgres").resolve())
    host.run(
        "pg_ctl",
        "restart",
        "-D",
        str(host.data),
        "-m",
        "immediate",
        "-w",
        "-l",
        str(host.data / "restart.log"),
    )


def _kill_backend(chance: random.Random) -> None:
    """One of a worker's, so that it is hit at its work."""
    from django.db import Error, connection

    while True:
        try:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' "
                    "AND pid <> pg_backend_pid() AND datname = current_database()"
                )
                pids = [pid for (pid,) in cursor.fetchall()]
            if pids:
                os.kill(chance.choice(pids), signal.SIGKILL)
                return
        except Error:
            # The one before is still being recovered from.
            connection.close()
        time.sleep(0.2)


def _wait_until_delivered() -> None:
    from django.db import Error, connection

    from applications.webhooks.models import Delivery

    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        with contextlib.suppress(Error):
            if not Delivery.objects.exclude(state="Delivered").exists():
                return
        connection.close()
        time.sleep(0.2)
    raise RuntimeError("deliveries are still waiting")


def _missing(receiver: Any) -> set[tuple[int, int]]:
    """The expected events of each order, less those that arrived."""
    from applications.webhooks.models import Event

    arrived = {event_id for _, event_id in receiver.arrived}
    arrived_steps = {
        (event.data["OrderID"], event.data["Sequence"])
        for event in Event.objects.all()
        if str(event.event_id) in arrived
    }
    return {(order, step) for order in range(ORDERS) for step in range(1, STEPS + 1)} - arrived_steps


if __name__ == "__main__":
    sys.exit(main())
