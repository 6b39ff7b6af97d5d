"""The rows: each against simpler and stock servers, and against itself beside more data; always in turn."""

import os
import statistics
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.benchmarks.databases import Database, server_process
from tests.benchmarks.load import Load, put_load
from tests.benchmarks.quiet import OtherWork, wait_for_quiet
from tests.benchmarks.rows import ROWS, Row, sent
from tests.benchmarks.servers import SERVERS, Server, running
from tests.support.servers.processes import processor_seconds

PEER_STRETCH = 4


class NotTaken(Exception):
    """A row has no figure, and why."""


@dataclass
class Runs:
    """What one server did for one row, round by round; processor time in ms a request."""

    loads: list[Load] = field(default_factory=list)
    worker: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    memory: float = 0
    is_busy: bool = False

    @property
    def costs(self) -> tuple[float, float]:
        """Of the worker and of the database."""
        return statistics.median(self.worker), statistics.median(self.database)

    def median(self, name: str) -> float:
        return statistics.median(getattr(load, name) for load in self.loads)


@dataclass(frozen=True)
class Pace:
    rounds: int
    seconds: int
    connections: int


def measure_rows(database: Database, pace: Pace) -> Iterator[tuple[Row, dict[str, Runs]]]:
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(running(name, environment=limit_environment(database)))
            for name in SERVERS
        }
        _compare_answers(servers, database)
        for row in ROWS:
            try:
                yield row, _measure(row, {name: servers[name] for name in row.servers}, database, pace)
            except NotTaken as reason:
                print(f"{row.title}: could not be taken: {reason}", file=sys.stderr, flush=True)


def measure_growth(small: Database, large: Database, pace: Pace) -> Iterator[tuple[str, float, float]]:
    """The rate of each read beside much data over its rate beside little, and the same of its processor time."""
    with (
        running("ours", environment=small.environment) as few,
        running("ours", environment=large.environment) as many,
    ):
        for row in [row for row in ROWS if row.is_read]:
            try:
                yield row.title, *_grown(row, ((few, small), (many, large)), pace)
            except NotTaken as reason:
                print(f"{row.title} beside more data: not taken: {reason}", file=sys.stderr, flush=True)


def _grown(row: Row, sides: tuple[tuple[Server, Database], ...], pace: Pace) -> tuple[float, float]:
    rates, costs = [], []
    wait_for_quiet()
    for turn in range(pace.rounds + 1):
        (few_load, *few_cost), (many_load, *many_cost) = (
            _load(row, server, database, pace, 0, _etag(row, server, database)) for server, database in sides
        )
        if turn:
            rates.append(many_load.rate / few_load.rate)
            costs.append(sum(many_cost) / sum(few_cost))
    return statistics.median(rates), statistics.median(costs)


def cost_ratio(results: Mapping[str, Runs], other: str) -> float:
    """How much processor time the other server takes for each of ours, worker and database together."""
    return sum(results[other].costs) / max(sum(results["ours"].costs), 1e-6)


def reaches(results: Mapping[str, Runs], other: str, mark: float) -> bool:
    """By the rate and by the processor time: a busy machine slows both servers alike and flatters the rate."""
    return min(ratio(results, other), cost_ratio(results, other)) >= mark


def ratio(results: Mapping[str, Runs], other: str) -> float:
    pairs = zip(results["ours"].loads, results[other].loads, strict=True)
    # Where nothing came back in time, one answer is taken to have come.
    return statistics.median(ours.rate / max(theirs.rate, 1 / PEER_STRETCH) for ours, theirs in pairs)


def _compare_answers(servers: Mapping[str, Server], database: Database) -> None:
    """The bare handler must answer the same, and only to permitted callers."""
    anonymous = database.headers | {"Authorization": "Bearer sfa_unknown"}
    for row in [row for row in ROWS if row.is_read]:
        ours, limit = (_answer(servers[name].url + row.path, database.headers) for name in ("ours", "limit"))
        refused = _answer(servers["limit"].url + row.path, anonymous)
        if ours != limit or refused[0] != 401:
            raise SystemExit(f"The limit answers {row.title!r} in another way: it is no limit.")


def _answer(url: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers))) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, b""


def limit_environment(database: Database) -> dict[str, str]:
    """Passed to the bare handler, because it has no layouts of its own."""
    facts = database.facts
    return database.environment | {
        "BENCH_FINGERPRINT": facts["fingerprint"],
        "BENCH_MARK": "PROOF",
        "BENCH_PRESET": facts["preset"],
    }


def _measure(row: Row, servers: Mapping[str, Server], database: Database, pace: Pace) -> dict[str, Runs]:
    runs = {name: Runs() for name in servers}
    etag = _etag(row, servers["ours"], database)
    quiet, postgres = wait_for_quiet(), server_process()
    other_work = OtherWork(lambda: processor_seconds(os.getpid()) + processor_seconds(postgres))
    for turn in range(pace.rounds + 1):
        for name, server in servers.items():
            load, *costs = _load(row, server, database, pace, turn, etag)
            # The first round fills caches and is not counted.
            if turn:
                runs[name].loads.append(load)
                runs[name].worker.append(costs[0])
                runs[name].database.append(costs[1])
                runs[name].memory = server.worker_memory()
    runs["ours"].is_busy = not quiet or other_work.is_busy()
    return runs


def _etag(row: Row, server: Server, database: Database) -> str:
    if not row.conditional:
        return ""
    request = urllib.request.Request(server.url + row.path, headers=database.headers)
    with urllib.request.urlopen(request) as response:
        return str(response.headers["ETag"])


def _load(
    row: Row, server: Server, database: Database, pace: Pace, turn: int, etag: str
) -> tuple[Load, float, float]:
    """The load, and the milliseconds of processor time that the server and PostgreSQL took for a request."""
    request = sent(row, database.facts, server.name, etag=etag, turn=turn)
    pids = (server.pid, server_process())
    before = list(map(processor_seconds, pids))
    # A few slow answers would be counted too roughly.
    seconds = pace.seconds * (PEER_STRETCH if server.name == "peer" else 1)
    load = put_load(server.url, request, seconds=seconds, connections=pace.connections)
    server.wait_until_idle()
    if load.failures:
        raise NotTaken(f"{server.name} refused {load.failures} of {load.count} requests")
    used = [processor_seconds(pid) - start for pid, start in zip(pids, before, strict=True)]
    return load, *(seconds * 1000 / max(1, load.count) for seconds in used)
