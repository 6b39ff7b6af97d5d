"""300 wrong secrets a second at the token endpoint for a minute: what good clients notice of it.

One web worker for each core, as in production. The attackers live in a process of their own; good clients read a store
100 times a second, before, meanwhile and afterwards. Alternately wrong are the secret of one client, those of ever new
clients, and refresh tokens.
"""

import argparse
import http.client
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter
from typing import Any
from urllib.parse import urlencode, urlsplit

from tests.benchmarks.databases import prepare_database
from tests.benchmarks.open_loop import Outcome, put_steady_load
from tests.benchmarks.servers import running
from tests.support.patience import PATIENCE

THREADS = 12
MARK = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=300, help="wrong secrets a second")
    parser.add_argument("--good", type=int, default=100, help="good requests a second")
    arguments = parser.parse_args()
    database = prepare_database(0)
    credentials = database.headers
    with running("ours", workers=os.cpu_count() or 1, environment=database.environment) as server:
        good = f"{server.url}/api/v1/store/bench"
        put_steady_load(good, credentials, rate=arguments.good, seconds=5)
        before = put_steady_load(good, credentials, rate=arguments.good, seconds=20)
        during, statuses = _attacked(server.url, good, credentials, arguments)
        after = put_steady_load(good, credentials, rate=arguments.good, seconds=20)
    for name, outcome in (("before", before), ("during", during), ("after", after)):
        print(
            f"{name}: {outcome.done} good requests, p50 {outcome.percentile(0.5):.1f} ms, "
            f"p99 {outcome.percentile(0.99):.1f} ms, refused {outcome.refused}, broken {outcome.broken}"
        )
    ratio = during.percentile(0.99) / ((before.percentile(0.99) + after.percentile(0.99)) / 2)
    sent = sum(statuses.values())
    print(f"attack: {sent} wrong secrets in {arguments.seconds} s, answers {dict(statuses)}")
    print(f"p99 {ratio:.2f} x, mark < {MARK}; load average {os.getloadavg()[0]:.1f}")
    failed = during.refused or during.broken or any(status >= 500 or status == 200 for status in statuses)
    sys.exit(1 if failed or ratio >= MARK else 0)


def _attacked(
    url: str, good: str, credentials: dict[str, str], arguments: argparse.Namespace
) -> tuple[Outcome, Counter[int]]:
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    attackers = context.Process(target=_attack, args=(url, arguments.rate, arguments.seconds, queue))
    attackers.start()
    queue.get()
    outcome = put_steady_load(good, credentials, rate=arguments.good, seconds=arguments.seconds)
    statuses = queue.get()
    attackers.join()
    return outcome, statuses


def _attack(url: str, rate: int, seconds: int, queue: Any) -> None:
    queue.put("started")
    statuses: Counter[int] = Counter()
    attack(url, rate, seconds, statuses)
    queue.put(statuses)


def attack(url: str, rate: int, seconds: int, statuses: Counter[int]) -> None:
    """Counts the answers in `statuses`."""
    began = time.monotonic()
    threads = [
        threading.Thread(target=_send, args=(url, began, slot, rate, seconds, statuses))
        for slot in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _send(url: str, began: float, slot: int, rate: int, seconds: int, statuses: Counter[int]) -> None:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    for number in range(slot, rate * seconds, THREADS):
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
        forms = (
            {"grant_type": "client_credentials", "client_id": "bench", "client_secret": f"wrong-{number}"},
            {"grant_type": "client_credentials", "client_id": f"bench-{number}", "client_secret": "wrong"},
            {"grant_type": "refresh_token", "client_id": "api-console", "refresh_token": f"{number}"},
        )
        connection.request("POST", "/oauth/token", urlencode(forms[number % 3]), headers)
        response = connection.getresponse()
        response.read()
        statuses[response.status] += 1
    connection.close()


if __name__ == "__main__":
    main()
