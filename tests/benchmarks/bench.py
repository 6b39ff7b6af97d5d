"""`make bench`: every row against the limit of the machine and the usual build, in turn, in one run.

Ratios are medians over rounds; single figures of a shared machine say little. Writes docs/performance.md.
"""

import argparse
import os
import secrets
import statistics
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path

from tests.benchmarks.load import Load, put_load, require_wrk
from tests.benchmarks.rows import ROWS, Row
from tests.benchmarks.servers import SERVERS, Server, running

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "docs" / "performance.md"
HEADING = """# Performance

Written by `make bench` (needs `wrk`): the service as in production, one web worker, beside a *limit* (bare WSGI and
psycopg on the same server: the same credential checks, the same query, no framework) and a *peer* (the same answer
through nested ModelSerializers and the OAuth toolkit's own authentication class). All run on the same machine and
database, in turn, {rounds} rounds of {seconds} s with {connections} connections; ratios are medians over the rounds.

| row | requests/s | p50 ms | p99 ms | queries | of the limit | mark | times the peer | mark |
|---|---|---|---|---|---|---|---|---|
"""


def main() -> None:
    arguments = _arguments()
    require_wrk()
    _prepare_environment()
    from tests.benchmarks import data

    credentials = data.load()
    results = {}
    with ExitStack() as stack:
        servers = {name: stack.enter_context(running(name)) for name in SERVERS}
        for row in ROWS:
            results[row] = _measure(row, servers, credentials, arguments)
            _show(row, results[row])
        memory = servers["ours"].memory()
    lines = [_line(row, loads, data.count_queries(row.path, credentials)) for row, loads in results.items()]
    if arguments.write:
        REPORT.write_text(_report(arguments, lines, memory), encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _prepare_environment() -> None:
    """Production's settings, but for what needs https; a database of its own that is made anew each time."""
    from fulfillment.postgres import ensure_running

    os.environ.update(
        FULFILLMENT_MODE="development",
        DJANGO_SETTINGS_MODULE="fulfillment.settings",
        DATABASE_URL=ensure_running(ROOT / "var" / "bench-postgres"),
        **{
            name: secrets.token_urlsafe(48)
            for name in ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
        },
    )


def _measure(
    row: Row, servers: dict[str, Server], credentials: dict[str, str], arguments: argparse.Namespace
) -> dict[str, list[Load]]:
    loads: dict[str, list[Load]] = {name: [] for name in servers}
    etag = ""
    for _ in range(arguments.rounds):
        for name, server in servers.items():
            headers = {**credentials, **row.headers}
            if row.conditional:
                headers["If-None-Match"] = etag or (etag := _etag(servers["ours"].url + row.path, headers))
            load = put_load(
                server.url + row.path, headers, seconds=arguments.seconds, connections=arguments.connections
            )
            if load.failures:
                sys.exit(f"{name} refused {load.failures} requests of {row.title!r}.")
            loads[name].append(load)
    return loads


def _etag(url: str, headers: dict[str, str]) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
        return response.headers["ETag"]


def _ratio(loads: dict[str, list[Load]], other: str) -> float:
    pairs = zip(loads["ours"], loads[other], strict=True)
    return statistics.median(ours.rate / theirs.rate for ours, theirs in pairs)


def _show(row: Row, loads: dict[str, list[Load]]) -> None:
    rates = ", ".join(
        f"{name} {statistics.median(x.rate for x in runs):.0f}/s" for name, runs in loads.items()
    )
    print(f"{row.title}: {rates}")
    for other, mark in row.marks.items():
        ratio = _ratio(loads, other)
        print(f"  {ratio:.2f} x {other}, mark {mark}: {'reached' if ratio >= mark else 'UNDER ITS MARK'}")


def _line(row: Row, loads: dict[str, list[Load]], queries: int) -> str:
    ours = loads["ours"]
    cells = [row.title, f"{statistics.median(x.rate for x in ours):.0f}"]
    cells += [
        f"{statistics.median(x.p50 for x in ours):.1f}",
        f"{statistics.median(x.p99 for x in ours):.1f}",
    ]
    cells.append(str(queries))
    for other in ("limit", "peer"):
        ratio, mark = _ratio(loads, other), row.marks[other]
        cells += [f"{ratio:.2f}", f"≥ {mark}" + ("" if ratio >= mark else " **(under)**")]
    return "| " + " | ".join(cells) + " |"


def _report(arguments: argparse.Namespace, lines: list[str], memory: float) -> str:
    heading = HEADING.format(
        rounds=arguments.rounds, seconds=arguments.seconds, connections=arguments.connections
    )
    processor = f"{os.cpu_count()} cores"
    return (
        heading
        + "\n".join(lines)
        + f"\n\nMemory of the web worker after the run: {memory:.0f} MB. {processor}.\n"
    )


if __name__ == "__main__":
    main()
