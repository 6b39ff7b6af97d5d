"""How the service behaves over time and on more processors: two workers, waiting times, memory."""

import os
import statistics
from dataclasses import dataclass

from tests.benchmarks.databases import Database, server_process
from tests.benchmarks.load import put_load
from tests.benchmarks.open_loop import Outcome, put_steady_load
from tests.benchmarks.processes import descendants, pin, processor_seconds
from tests.benchmarks.ratios import limit_environment
from tests.benchmarks.servers import Server, running

PATH = "/api/v1/store/bench"
CONNECTIONS = 16
WORKERS_MARK, TAIL_MARK, MEMORY_MARK, FLAT_MARK = 1.7, 4.0, 150, 1.05
LOADED, REQUESTS = 0.7, 100_000
WARM_UP_SECONDS = 5
# Seconds for each.
READS = {
    PATH: 3,
    f"{PATH}/product": 1,
    f"{PATH}/order/exportview?take=100": 1,
    "/api/v1/store": 1,
    "/api/v1/delivery/eddm?postalCodes=10001": 1,
}


@dataclass(frozen=True)
class Workers:
    """Rates a second. `halved` is one worker with its database and its load on one processor, `one` has all of
    them; `per_second` are requests for each second of processor time that one and two workers took."""

    halved: float
    one: float
    two: float
    per_second: tuple[float, float]


def measure_workers(database: Database, rounds: int, seconds: int) -> Workers:
    everywhere = set(range(os.cpu_count() or 1))
    rates: dict[str, list[float]] = {"halved": [], "one": [], "two": []}
    efficiency: dict[str, list[float]] = {"one": [], "two": []}
    with (
        running("ours", environment=database.environment) as one,
        running("ours", workers=2, environment=database.environment) as two,
    ):
        try:
            for turn in range(-1, rounds):
                for name, server, processors in (
                    ("halved", one, {0}),
                    ("one", one, everywhere),
                    ("two", two, everywhere),
                ):
                    _pin(server, processors)
                    before = processor_seconds(server.pid)
                    load = put_load(
                        server.url + PATH, database.headers, seconds=seconds, connections=CONNECTIONS
                    )
                    used = processor_seconds(server.pid) - before
                    if turn >= 0:
                        rates[name].append(load.rate)
                        efficiency.setdefault(name, []).append(load.count / used)
        finally:
            _pin(one, everywhere)
    medians = {name: statistics.median(values) for name, values in rates.items()}
    return Workers(
        **medians,
        per_second=(statistics.median(efficiency["one"]), statistics.median(efficiency["two"])),
    )


def measure_tail(database: Database, seconds: float) -> tuple[float, Outcome, Outcome]:
    """Waiting times at 70 % of what one worker can do: (that rate, the outcome, that of the limit at this rate).

    The second is what the machine itself makes requests wait.
    """
    headers, environment = database.headers, limit_environment(database)
    with running("ours", environment=environment) as ours, running("limit", environment=environment) as limit:
        rate = LOADED * put_load(ours.url + PATH, headers, seconds=3, connections=8).rate
        # Afterwards every thread has its connection to the database, and that its prepared statements.
        for server in (ours, limit):
            put_steady_load(server.url + PATH, headers, rate=rate, seconds=WARM_UP_SECONDS)
        outcome, least = (
            put_steady_load(server.url + PATH, headers, rate=rate, seconds=seconds)
            for server in (ours, limit)
        )
        return rate, outcome, least


def measure_memory(database: Database) -> list[tuple[int, float]]:
    """Resident memory of the worker in MB during the fifth of the requests that ends there: every read in turn.

    Medians, because it goes up and down by some megabytes with the large bodies that are under way.
    """
    samples, done = [], 0
    with running("ours", environment=database.environment) as server:
        while done < REQUESTS:
            for path, seconds in READS.items():
                done += put_load(
                    server.url + path, database.headers, seconds=seconds, connections=CONNECTIONS
                ).count
                samples.append((done, server.worker_memory()))
    found = []
    for end in (REQUESTS // 5, REQUESTS // 5 * 3, REQUESTS):
        span = [used for count, used in samples if end - REQUESTS // 5 < count <= end]
        found.append((end, statistics.median(span or [samples[-1][1]])))
    return found


def _pin(server: Server, processors: set[int]) -> None:
    """The server, its database, and (by inheritance) the load that this process starts."""
    postgres = server_process()
    pin([os.getpid(), *server.pids, postgres, *descendants(postgres)], processors)
