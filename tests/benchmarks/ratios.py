"""The rows: each against simpler and stock servers, and against itself beside more data; always in turn."""

import statistics
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.benchmarks.databases import Database, server_process
from tests.benchmarks.load import Load, put_requests
from tests.benchmarks.processes import processor_seconds
from tests.benchmarks.rows import ROWS, Row, sent
from tests.benchmarks.servers import SERVERS, Server, running

GROWTH_MARK = 0.8
FEWEST, LONGEST = 8, 4


@dataclass
class Runs:
    """What one server did for one row, round by round; processor time in ms a request."""

    loads: list[Load] = field(default_factory=list)
    worker: list[float] = field(default_factory=list)
    database: list[float] = field(default_factory=list)
    memory: float = 0

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

    def options(self, **changes: int) -> dict[str, int]:
        return {"seconds": self.seconds, "connections": self.connections} | changes


def measure_rows(database: Database, pace: Pace) -> dict[Row, dict[str, Runs]]:
    results: dict[Row, dict[str, Runs]] = {}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(running(name, environment=_all(database))) for name in SERVERS}
        _compare_answers(servers, database)
        for row in ROWS:
            results[row] = _measure(row, {name: servers[name] for name in row.servers}, database, pace)
            show(row, results[row])
    return results


def measure_growth(small: Database, large: Database, pace: Pace) -> dict[str, tuple[float, float]]:
    """The rate of each read beside much data over its rate beside little, and the same of its processor time."""
    found = {}
    with (
        running("ours", environment=small.environment) as few,
        running("ours", environment=large.environment) as many,
    ):
        for row in [row for row in ROWS if row.is_read]:
            rates, costs = [], []
            for turn in range(-1, pace.rounds):
                (few_load, *few_cost), (many_load, *many_cost) = (
                    _load(row, server, database, pace, 0)
                    for server, database in ((few, small), (many, large))
                )
                if turn >= 0:
                    rates.append(many_load.rate / few_load.rate)
                    costs.append(sum(many_cost) / sum(few_cost))
            kept, cost = found[row.title] = statistics.median(rates), statistics.median(costs)
            verdict = "reached" if kept >= GROWTH_MARK else "UNDER ITS MARK"
            print(
                f"{row.title} beside more data: {kept:.2f} x ({cost:.2f} x the processor), {verdict}",
                flush=True,
            )
    return found


def ratio(results: Mapping[str, Runs], other: str) -> float:
    pairs = zip(results["ours"].loads, results[other].loads, strict=True)
    # Where nothing came back in time, one answer is taken to have come.
    return statistics.median(ours.rate / max(theirs.rate, 1 / LONGEST) for ours, theirs in pairs)


def show(row: Row, results: Mapping[str, Runs]) -> None:
    rates = ", ".join(f"{name} {runs.median('rate'):.0f}/s" for name, runs in results.items())
    print(f"{row.title}: {rates}", flush=True)
    for other, mark in row.marks.items():
        found = ratio(results, other)
        verdict = "" if not mark else f", mark {mark}: {'reached' if found >= mark else 'UNDER ITS MARK'}"
        print(f"  {found:.2f} x {other}{verdict}", flush=True)


def _compare_answers(servers: Mapping[str, Server], database: Database) -> None:
    """The limit must answer what we answer, to nobody but who may have it."""
    stranger = database.headers | {"Authorization": "Bearer sfa_unknown"}
    for row in [row for row in ROWS if row.is_read]:
        ours, limit = (_answer(servers[name].url + row.path, database.headers) for name in ("ours", "limit"))
        refused = _answer(servers["limit"].url + row.path, stranger)
        if ours != limit or refused[0] != 401:
            raise SystemExit(f"The limit answers {row.title!r} in another way: it is no limit.")


def _answer(url: str, headers: Mapping[str, str]) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=dict(headers))) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, b""


def etag_of(row: Row, server: Server, database: Database) -> str:
    if not row.conditional:
        return ""
    request = urllib.request.Request(server.url + row.path, headers=database.headers)
    with urllib.request.urlopen(request) as response:
        return str(response.headers["ETag"])


def _all(database: Database) -> dict[str, str]:
    """What the limit is told, because it has no layouts of its own."""
    return database.environment | {"BENCH_FINGERPRINT": database.facts["fingerprint"], "BENCH_MARK": "PROOF"}


def _measure(row: Row, servers: Mapping[str, Server], database: Database, pace: Pace) -> dict[str, Runs]:
    runs = {name: Runs() for name in servers}
    etag = etag_of(row, servers["ours"], database)
    for turn in range(-1, pace.rounds):
        for name, server in servers.items():
            # The first round fills caches and is not counted.
            chosen = pace if turn >= 0 else Pace(1, 1, pace.connections)
            load, worker, postgres = _load(row, server, database, chosen, turn + 1, etag)
            if turn >= 0:
                runs[name].loads.append(load)
                runs[name].worker.append(worker)
                runs[name].database.append(postgres)
                runs[name].memory = server.worker_memory()
    return runs


def _load(
    row: Row, server: Server, database: Database, pace: Pace, turn: int, etag: str | None = None
) -> tuple[Load, float, float]:
    """The load, and the milliseconds of processor time that the server and PostgreSQL took for a request."""
    tag = etag_of(row, server, database) if etag is None else etag
    request = sent(row, database.facts, server.name, etag=tag, turn=turn)
    pids = (server.pid, server_process())
    before = list(map(processor_seconds, pids))
    seconds = LONGEST if request.pool and server.name == "peer" else pace.seconds
    load = put_requests(server.url + request.path, request, **pace.options(seconds=seconds))
    while load.count < FEWEST and seconds < LONGEST and not request.pool:
        # A few slow answers are counted too roughly.
        seconds *= 4
        load = put_requests(server.url + request.path, request, **pace.options(seconds=seconds))
    _wait_until_idle(server)
    if load.failures:
        raise SystemExit(f"{server.name} refused {load.failures} requests of {row.title!r}.")
    used = [processor_seconds(pid) - start for pid, start in zip(pids, before, strict=True)]
    return load, *(seconds * 1000 / max(1, load.count) for seconds in used)


def _wait_until_idle(server: Server) -> None:
    """A slow server still works on what wrk no longer waits for; the next one is not to pay for it."""
    deadline, before = time.monotonic() + 5, -1.0
    while time.monotonic() < deadline and (now := processor_seconds(server.pid)) > before:
        before = now
        time.sleep(0.05)
