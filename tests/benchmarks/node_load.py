"""What two nodes, a pooler, a primary and its replica take for a request, and what fails while the replica is lost."""

import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import requests

from tests.benchmarks.databases import Database
from tests.benchmarks.load import Load, put_requests
from tests.benchmarks.open_loop import put_steady_load
from tests.benchmarks.processes import processor_seconds
from tests.benchmarks.ratios import etag_of
from tests.benchmarks.rows import ROWS, Row, sent
from tests.benchmarks.servers import Server
from tests.support.streaming_replica import StreamingReplica

REPLICATED = [row for row in ROWS if row.is_read and "/delivery/" not in row.path]
SECONDS, IDLE_SECONDS, CONNECTIONS = 4, 4, 4
RATE, LASTS, KILLED_AFTER, BACK_AFTER = 60, 14, 3, 7
HEAD = """
| both nodes | requests/s | not answered | web ms | pooler ms | primary ms | replica ms |
|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Measured:
    """Both nodes together; processor time in ms a request, by part."""

    rate: float
    failures: int
    costs: Mapping[str, float]

    def line(self, title: str) -> str:
        shown = [f"{self.costs[part]:.2f}" if part in self.costs else "" for part in PARTS]
        return f"| {title} | {self.rate:.0f} | {self.failures} | {' | '.join(shown)} |"


PARTS = ("web", "pooler", "primary", "replica")


def measure_reads(
    nodes: tuple[Server, Server], database: Database, pids: Mapping[str, list[int]]
) -> dict[str, Measured]:
    """Every read that a replica may serve, put to both nodes at once, without what the parts take when idle."""
    before, began = _used(pids), time.monotonic()
    time.sleep(IDLE_SECONDS)
    idle = {part: (used - before[part]) / (time.monotonic() - began) for part, used in _used(pids).items()}
    return {row.title: _measure(row, nodes, database, pids, idle) for row in REPLICATED}


def _used(pids: Mapping[str, list[int]]) -> dict[str, float]:
    return {part: sum(map(processor_seconds, each)) for part, each in pids.items()}


def _measure(
    row: Row,
    nodes: tuple[Server, Server],
    database: Database,
    pids: Mapping[str, list[int]],
    idle: Mapping[str, float],
) -> Measured:
    """`idle` are seconds of processor time a second, such as of the workers that poll the primary."""
    request = sent(row, database.facts, "ours", etag=etag_of(row, nodes[0], database))

    def put(node: Server) -> Load:
        return put_requests(node.url + row.path, request, seconds=SECONDS, connections=CONNECTIONS)

    with ThreadPoolExecutor(len(nodes)) as pool:
        list(pool.map(put, nodes))
        before, began = _used(pids), time.monotonic()
        loads = list(pool.map(put, nodes))
        passed, used = time.monotonic() - began, _used(pids)
    count = sum(load.count for load in loads)
    costs = {part: (used[part] - before[part] - idle[part] * passed) * 1000 / count for part in pids}
    return Measured(sum(load.rate for load in loads), sum(load.failures for load in loads), costs)


def table(measured: Mapping[str, Measured]) -> str:
    return HEAD + "\n".join(each.line(title) for title, each in measured.items())


def arithmetic(with_replica: Mapping[str, Measured], without: Mapping[str, Measured]) -> Iterator[str]:
    """What the replica takes off the primary, as sentences."""
    for title, one in with_replica.items():
        kept, whole = one.costs["primary"], without[title].costs["primary"]
        yield f"| {title} | {whole:.2f} | {kept:.2f} | {one.costs['replica']:.2f} | {1 - kept / whole:.0%} |"


def lose_replica(
    nodes: tuple[Server, Server], database: Database, replica: StreamingReplica
) -> tuple[bool, str]:
    """A steady load while the replica is killed and comes back: whether no request failed, and what was seen."""
    back: list[float] = []

    def disturb() -> None:
        time.sleep(KILLED_AFTER)
        replica.kill()
        time.sleep(BACK_AFTER - KILLED_AFTER)
        replica.start()
        began = time.monotonic()
        while not all(is_serving(node) for node in nodes):
            time.sleep(0.05)
        back.append(time.monotonic() - began)

    helper = threading.Thread(target=disturb)
    helper.start()
    outcome = put_steady_load(
        f"{nodes[0].url}/api/v1/store/bench/product",
        database.headers,
        rate=RATE,
        seconds=LASTS,
        targets=[(node.host, node.port) for node in nodes],
    )
    helper.join()
    failed = outcome.refused + outcome.broken
    refusals = "".join(f", {count} of them with {status}" for status, count in outcome.refusals.items())
    parts = [
        sorted(
            waited
            for moment, waited in zip(outcome.moments, outcome.times, strict=True)
            if low < moment <= high
        )
        for low, high in ((0, KILLED_AFTER), (KILLED_AFTER, BACK_AFTER), (BACK_AFTER, LASTS))
    ]
    p99 = [part[int(len(part) * 0.99)] for part in parts]
    return not failed, (
        f"The replica was killed {KILLED_AFTER} s into {RATE} reads of a list of products a second and started again "
        f"{BACK_AFTER - KILLED_AFTER} s later: {failed} of {RATE * LASTS:,} "
        f"failed{refusals}; p99 was {p99[0]:.0f} ms before, "
        f"{p99[1]:.0f} ms without it and {p99[2]:.0f} ms after; both nodes "
        f"used it again {back[0]:.1f} s after its start."
    )


def is_serving(node: Server) -> bool:
    checks = requests.get(f"{node.url}/readyz?worker=0", timeout=10).json()["checks"]
    return checks.get("replica") == "ok"
