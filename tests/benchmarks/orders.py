"""Quotes, orders and the export view beside many orders: `python -m tests.benchmarks.orders`.

The marks speak of 2,000,000 orders: `--orders 2000000`. Without it as many as the last run left, at least 200,000.
From 2,000,000 on the figures go between the marks of docs/performance.md.
"""

import argparse
import os
import statistics
import sys
import time
import urllib.request
from collections.abc import Iterator

import orjson

from tests.benchmarks.data import STORE, TYPICAL, WORKSHOP
from tests.benchmarks.databases import DOCUMENT, Database, Size, prepare_database
from tests.benchmarks.load import JSON, Load, Sent, put_load, require_wrk
from tests.benchmarks.ratios import limit_environment
from tests.benchmarks.servers import Server, running
from tests.support.figures import write_between

FEW = Size(orders=1000, first=0, tokens=0)
STORES, FIRST = 50, 100_000
DEFAULT, MARKED = 200_000, 2_000_000
# By the name of its body: what is posted, and the least of its rate.
SUBMISSIONS = {
    "quote": ("quote", 300),
    "order": ("order without template", 100),
    "order of a card": ("order of a two-sided card", 120),
}
# One less than one caller may hold of THREADS: a request may arrive before the one it follows has let go of its slot.
AT_ONCE, THREADS = 5, 12
EXPORT = f"/api/v1/store/{TYPICAL}/order/exportview"
LARGE_EXPORT = f"/api/v1/store/{STORE}/order/exportview"


def main() -> None:
    arguments = _arguments()
    require_wrk()
    few = prepare_database("bench_few_orders", FEW, anew=True)
    many = prepare_database(
        "bench_orders", Size(stores=STORES, orders=arguments.orders or DEFAULT, first=FIRST, tokens=0)
    )
    environment = limit_environment(many)
    with running("ours", environment=environment) as ours, running("limit", environment=environment) as limit:
        lines = _export_lines(ours, limit, many, arguments)
        lines.append(_csv_line(ours, many.headers))
    with (
        running("ours", threads=THREADS, environment=many.environment) as beside_many,
        running("ours", threads=THREADS, environment=few.environment) as beside_few,
    ):
        lines += _submission_lines([(beside_many, many), (beside_few, few)], arguments)
    stored = many.facts["stored"]
    text = _report(stored, lines)
    print(text)
    if arguments.write and stored >= MARKED:
        write_between(DOCUMENT, "orders", text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, help="make so many in all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _export_lines(
    ours: Server, limit: Server, database: Database, arguments: argparse.Namespace
) -> list[str]:
    """Ratios are of pairs measured in turn, one after the other; medians over the rounds."""
    headers, order = database.headers, database.facts["order"]
    # The typical store is this deep only beside 2,000,000 orders; the large one always is.
    rows = [
        ("following `Link` at depth 30,000", _deep_link(ours, headers, 30_000), 1.2),
        ("`skip=30000`", f"{LARGE_EXPORT}?skip=30000", 5),
        ("`status=70` (most orders)", f"{EXPORT}?status=70", 2),
        ("`status=20` (few orders)", f"{EXPORT}?status=20", 2),
        ("`status=20&status=95`", f"{EXPORT}?status=20&status=95", 2),
        ("`productID`", f"{EXPORT}?productID={order['product']}", 2),
        ("`orderNumber`", f"{EXPORT}?orderNumber={order['number']}", 2),
        (
            "`createdAfter` and `createdBefore`",
            f"{EXPORT}?createdAfter={order['from']}&createdBefore={order['to']}",
            2,
        ),
        ("`externalID`", f"{EXPORT}?externalID={order['external']}", 2),
        ("`updatedAfter`, the newest few", f"{EXPORT}?updatedAfter={order['newest']}", 2),
        ("`updatedAfter`, half of all orders", f"{EXPORT}?updatedAfter={order['updated']}", 2),
    ]
    first_page = Sent(EXPORT, headers)
    firsts: list[Load] = []
    paired: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    p50s: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    ratios = []
    for _ in range(arguments.rounds):
        load, of_limit = (
            put_load(server.url, first_page, seconds=arguments.seconds, connections=8)
            for server in (ours, limit)
        )
        ratios.append(load.rate / of_limit.rate)
        firsts.append(put_load(ours.url, first_page, seconds=1, connections=1))
        for name, path, _ in rows:
            single = put_load(ours.url, Sent(path, headers), seconds=1, connections=1)
            assert not single.failures, name
            paired[name].append(single.p50 / firsts[-1].p50)
            p50s[name].append(single.p50)
    thousand = put_load(ours.url, Sent(f"{EXPORT}?take=1000", headers), seconds=3, connections=1)
    ratio, under = statistics.median(ratios), " **(missed)**"
    lines = [
        _line(
            "first page of 100, rate relative to the limit",
            f"{ratio:.2f} ×",
            f"≥ 0.5{'' if ratio >= 0.5 else under}",
        ),
        _line("first page of 100, p50", f"{statistics.median(f.p50 for f in firsts):.1f} ms", ""),
    ]
    for name, _, mark in rows:
        value = f"{statistics.median(paired[name]):.2f} × ({statistics.median(p50s[name]):.1f} ms)"
        lines.append(_line(f"{name}, relative to the first page", value, f"≤ {mark}"))
    return [*lines, _line("`take=1000`, p50", f"{thousand.p50:.1f} ms", "≤ 60 ms")]


def _deep_link(server: Server, headers: dict[str, str], depth: int) -> str:
    request = urllib.request.Request(f"{server.url}{LARGE_EXPORT}?skip={depth - 100}", headers=headers)
    with urllib.request.urlopen(request) as response:
        return response.headers["Link"].partition("<")[2].partition(">")[0].partition("8000")[2]


def _csv_line(server: Server, headers: dict[str, str]) -> str:
    before, started, size, peak = server.memory(), time.monotonic(), 0, 0.0
    request = urllib.request.Request(server.url + LARGE_EXPORT, headers={**headers, "Accept": "text/csv"})
    rows = -1
    with urllib.request.urlopen(request) as response:
        while chunk := response.read(1 << 20):
            rows += chunk.count(b"\n")
            size += len(chunk)
            peak = max(peak, server.memory())
    seconds = time.monotonic() - started
    text = f"{seconds:.1f} s, {size / 1e6:.0f} MB, memory +{max(0, peak - before):.0f} MB"
    return _line(f"CSV of {rows:,} orders", text, "≤ 5 s")


def _submission_lines(sides: list[tuple[Server, Database]], arguments: argparse.Namespace) -> Iterator[str]:
    """Beside many orders and beside few in turn; ratios are of pairs, one after the other."""
    for body, (name, mark) in SUBMISSIONS.items():
        path = f"/api/v1/store/{WORKSHOP}/{body.partition(' ')[0]}"
        rounds, refused = [], 0
        for _ in range(arguments.rounds + 1):
            rates = []
            for server, database in sides:
                sent = Sent(path, {**database.headers, **JSON}, orjson.dumps(database.facts["bodies"][body]))
                run = put_load(server.url, sent, seconds=arguments.seconds, connections=AT_ONCE)
                server.wait_until_idle()
                refused += run.failures
                rates.append(run.rate)
            rounds.append(rates)
        if refused:
            yield _line(name, f"could not be taken: {refused} requests were refused", "")
            continue
        # The first round reads what lies on the disk.
        rate = statistics.median(many for many, _ in rounds[1:])
        slower = statistics.median(few / many for many, few in rounds[1:])
        yield _line(f"{name}, per second", f"{rate:.0f}", f"≥ {mark}")
        yield _line(f"{name}, time relative to {FEW.orders:,} orders", f"{slower:.2f} ×", "≤ 1.2")


def _line(name: str, value: str, mark: str) -> str:
    line = f"| {name} | {value} | {mark} |"
    print(line, file=sys.stderr, flush=True)
    return line


def _report(stored: int, lines: list[str]) -> str:
    heading = (
        f"`python -m tests.benchmarks.orders` measured these medians with {stored:,} orders in {STORES} stores. "
        f"One web worker, its database and the load generator shared {os.cpu_count()} cores. The load average was "
        f"{os.getloadavg()[1]:.1f}.\n\n"
        "| what | measured | target |\n|---|---|---|\n"
    )
    return heading + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
