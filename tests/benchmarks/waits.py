"""Reads under full load, alone and beside requests that wait for events: at most a quarter of the threads wait.

`python -m tests.benchmarks.waits` makes the waiting applications and prints what they send.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import orjson
import requests

from tests.benchmarks.databases import Database
from tests.benchmarks.servers import running

PATH, CONNECTIONS, THREADS, ROUNDS, SECONDS = "/api/v1/store/bench", 8, 8, 5, 5
# Twice as many as may wait in a process: the others are answered at once, and pause a second.
WAITERS = THREADS // 2
MARK = 1.2
PERCENTILE = 'function done(summary, latency) io.write("p95 " .. latency:percentile(95) .. "\\n") end'


def measure_waits(database: Database) -> str:
    """Medians of rounds in turn, in a sentence."""
    command = [sys.executable, "-m", "tests.benchmarks.waits"]
    made = subprocess.run(command, env=os.environ | database.environment, check=True, stdout=subprocess.PIPE)
    callers, ratios = orjson.loads(made.stdout.splitlines()[-1]), []
    with running("ours", threads=THREADS, environment=database.environment) as server:
        _p95(server.url, database.headers)
        for _ in range(ROUNDS):
            alone = _p95(server.url, database.headers)
            with _waiting(server.url, callers):
                ratios.append(_p95(server.url, database.headers) / alone)
    found = statistics.median(ratios)
    return f"p95 of reads beside {WAITERS} waiting requests: {found:.2f} x alone (at most {MARK})"


def _p95(url: str, headers: Mapping[str, str]) -> float:
    """Milliseconds under full load."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(PERCENTILE)
        script.flush()
        command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", script.name]
        command += [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
        done = subprocess.run([*command, url + PATH], check=True, capture_output=True, text=True)
    return float(re.search(r"p95 (\d+)", done.stdout)[1]) / 1000


@contextmanager
def _waiting(url: str, callers: list[dict[str, Any]]) -> Iterator[None]:
    """Requests of `fulfillment listen`, one of each caller at a time; the last ones end after the block."""
    ended = threading.Event()
    threads = [threading.Thread(target=_wait, args=(url, caller, ended), daemon=True) for caller in callers]
    for thread in threads:
        thread.start()
    time.sleep(1)
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def _wait(url: str, caller: Mapping[str, Any], ended: threading.Event) -> None:
    while not ended.is_set():
        began = time.monotonic()
        address = f"{url}/api/v1/application/{caller['application']}/event"
        requests.get(address, {"wait": 2 * SECONDS}, headers=caller["headers"], timeout=60).raise_for_status()
        if time.monotonic() - began < 1:
            ended.wait(1)


def main() -> None:
    import django

    django.setup()
    from accounts.selectors.users import subscription_keys
    from applications.registration.models import Application
    from tests.benchmarks.data import access_token, lift_limits, make_application

    callers = []
    for number in range(WAITERS):
        name = f"Waiting {number}"
        application = Application.objects.filter(name=name).first() or make_application(name, [])
        headers = {
            "Authorization": f"Bearer {access_token(application)}",
            "Ocp-Apim-Subscription-Key": subscription_keys(application.subscription)["primary"],
        }
        callers.append({"application": str(application.pk), "headers": headers})
    lift_limits()
    sys.stdout.write(orjson.dumps(callers).decode() + "\n")


if __name__ == "__main__":
    main()
