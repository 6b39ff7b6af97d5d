"""Quotes, orders and the export view beside many orders: `python -m tests.benchmarks.orders`.

The marks speak of 2,000,000 orders: `--orders 2000000`. Without it as many as the last run left, at least 200,000;
they are kept in var/bench-orders-postgres. From 2,000,000 on the figures go between the marks of docs/performance.md.
"""

import argparse
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from tests.benchmarks.load import Load, put_load, put_requests, require_wrk
from tests.benchmarks.ratios import wait_until_idle
from tests.benchmarks.rows import JSON, Sent
from tests.benchmarks.servers import Server, running
from tests.support.figures import write_between

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "performance.md"
FEW, STORES, LARGE_STORE = 1000, 50, 100_000
DEFAULT, MARKED = 200_000, 2_000_000
MARKS = {"order without template": 100, "order of a two-sided card": 120, "quote": 300}
# One less than one caller may hold of THREADS: a request may arrive before the one it follows has let go of its slot.
AT_ONCE, THREADS = 5, 12
FIRST, TYPICAL = "bench-01", "bench-02"
EXPORT = f"/api/v1/store/{TYPICAL}/order/exportview"
LARGE_EXPORT = f"/api/v1/store/{FIRST}/order/exportview"


def main() -> None:
    arguments = _arguments()
    require_wrk()
    few = None if arguments.few else _few()
    anew = arguments.anew or arguments.few
    _prepare_environment("few" if arguments.few else "fulfillment", anew=anew)
    from tests.benchmarks import order_data

    headers = order_data.prepare()
    if few is None:
        order_data.fill(to=FEW, large=0)
        known = {"environment": {"DATABASE_URL": os.environ["DATABASE_URL"]}, "headers": headers}
        sys.stdout.write(orjson.dumps(known).decode())
        return
    order_data.fill(to=arguments.orders or DEFAULT, large=LARGE_STORE)
    stored = order_data.count()
    with running("ours") as ours, running("limit") as limit:
        lines = _export_lines(ours, limit, headers, order_data.an_order(TYPICAL), arguments)
        lines += _csv_line(ours, headers)
    with (
        running("ours", threads=THREADS) as many,
        running("ours", threads=THREADS, environment=few["environment"]) as beside_few,
    ):
        sides = {"many": (many, headers), "few": (beside_few, few["headers"])}
        lines += _submission_lines(sides, order_data.bodies(), arguments)
    text = _report(stored, lines)
    print(text)
    if arguments.write and stored >= MARKED:
        write_between(DOCUMENT, "orders", text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, help="make so many in all")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--few", action="store_true", help="Only make the database with few orders.")
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _few() -> dict[str, Any]:
    """A database of its own with few orders: where it is, and the headers of its application."""
    command = [sys.executable, "-m", "tests.benchmarks.orders", "--few"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return orjson.loads(output.splitlines()[-1])


def _prepare_environment(database: str, *, anew: bool = False) -> None:
    import psycopg

    from fulfillment.local.postgres import ensure_running

    folder = ROOT / "var" / "bench-orders-postgres"
    url = ensure_running(folder, database=database)
    if anew:
        with psycopg.connect(
            urlsplit(url)._replace(path="/postgres").geturl(), autocommit=True
        ) as connection:
            connection.execute(f"DROP DATABASE {database} WITH (FORCE)")
        url = ensure_running(folder, database=database)
    kept = ROOT / "var" / "bench-orders.json"
    kept.parent.mkdir(exist_ok=True)
    if not kept.exists():
        names = ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
        kept.write_bytes(orjson.dumps({name: secrets.token_urlsafe(48) for name in names}))
    os.environ.update(
        FULFILLMENT_MODE="development",
        DJANGO_SETTINGS_MODULE="fulfillment.settings",
        DATABASE_URL=url,
        MEDIA_ROOT=tempfile.mkdtemp(prefix="bench-media-"),
        **orjson.loads(kept.read_bytes()),
    )


def _export_lines(
    ours: Server, limit: Server, headers: dict[str, str], order: dict[str, str], arguments: argparse.Namespace
) -> list[str]:
    """Ratios are of pairs measured in turn, one after the other; medians over the rounds."""
    # The typical store is this deep only beside 2,000,000 orders; the large one always is.
    deep = _deep_link(ours, headers, 30_000)
    rows = [
        ("following `Link` at depth 30,000", deep, 1.2),
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
    firsts: list[Load] = []
    paired: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    p50s: dict[str, list[float]] = {name: [] for name, _, _ in rows}
    ratios = []
    for _ in range(arguments.rounds):
        load = {
            server.name: put_load(server.url + EXPORT, headers, seconds=arguments.seconds, connections=8)
            for server in (ours, limit)
        }
        ratios.append(load["ours"].rate / load["limit"].rate)
        first = put_load(ours.url + EXPORT, headers, seconds=1, connections=1)
        firsts.append(first)
        for name, path, _ in rows:
            one = put_load(ours.url + path, headers, seconds=1, connections=1)
            assert not one.failures, name
            paired[name].append(one.p50 / first.p50)
            p50s[name].append(one.p50)
    thousand = put_load(f"{ours.url}{EXPORT}?take=1000", headers, seconds=3, connections=1)
    ratio, under = statistics.median(ratios), " **(under)**"
    lines = [
        _line(
            "first page of 100, rate relative to the limit",
            f"{ratio:.2f} x",
            f"≥ 0.5{'' if ratio >= 0.5 else under}",
        ),
        _line("first page of 100, p50", f"{statistics.median(f.p50 for f in firsts):.1f} ms", ""),
    ]
    for name, _, mark in rows:
        value = f"{statistics.median(paired[name]):.2f} x ({statistics.median(p50s[name]):.1f} ms)"
        lines.append(_line(f"{name}, relative to the first page", value, f"≤ {mark}"))
    return [*lines, _line("`take=1000`, p50", f"{thousand.p50:.1f} ms", "≤ 60 ms")]


def _deep_link(server: Server, headers: dict[str, str], depth: int) -> str:
    request = urllib.request.Request(f"{server.url}{LARGE_EXPORT}?skip={depth - 100}", headers=headers)
    with urllib.request.urlopen(request) as response:
        if not (link := response.headers["Link"]):
            raise SystemExit(f"The store {FIRST} has fewer than {depth:,} orders.")
        return link.partition("<")[2].partition(">")[0].partition("8000")[2]


def _csv_line(server: Server, headers: dict[str, str]) -> list[str]:
    before, started, size, peak = server.memory(), time.monotonic(), 0, 0.0
    request = urllib.request.Request(
        f"{server.url}/api/v1/store/{FIRST}/order/exportview", headers={**headers, "Accept": "text/csv"}
    )
    rows = -1
    with urllib.request.urlopen(request) as response:
        while chunk := response.read(1 << 20):
            rows += chunk.count(b"\n")
            size += len(chunk)
            peak = max(peak, server.memory())
    seconds = time.monotonic() - started
    text = f"{seconds:.1f} s, {size / 1e6:.0f} MB, memory +{max(0, peak - before):.0f} MB"
    return [_line(f"CSV of {rows:,} orders", text, "≤ 5 s")]


def _submission_lines(
    sides: dict[str, tuple[Server, dict[str, str]]],
    bodies: dict[str, tuple[str, bytes]],
    arguments: argparse.Namespace,
) -> list[str]:
    """Beside many orders and beside few in turn; ratios are of pairs, one after the other."""
    lines = []
    for name, (path, body) in bodies.items():
        rates: dict[str, list[float]] = {side: [] for side in sides}
        refused = 0
        for number in range(arguments.rounds + 1):
            for side, (server, headers) in sides.items():
                run = put_requests(
                    server.url + path,
                    Sent(path, {**headers, **JSON}, body),
                    seconds=arguments.seconds,
                    connections=AT_ONCE,
                )
                wait_until_idle(server)
                refused += run.failures
                # The first ones read what lies on the disk.
                rates[side] += [run.rate] if number else []
        if refused:
            lines.append(_line(name, f"could not be taken: {refused} requests were refused", ""))
            print(lines[-1], file=sys.stderr, flush=True)
            continue
        slower = statistics.median(few / many for many, few in zip(*rates.values(), strict=True))
        rate = statistics.median(rates["many"])
        lines.append(_line(f"{name}, per second", f"{rate:.0f}", f"≥ {MARKS[name]}"))
        lines.append(_line(f"{name}, time relative to {FEW:,} orders", f"{slower:.2f} x", "≤ 1.2"))
        print(*lines[-2:], sep="\n", file=sys.stderr, flush=True)
    return lines


def _line(name: str, value: str, mark: str) -> str:
    return f"| {name} | {value} | {mark} |"


def _report(stored: int, lines: list[str]) -> str:
    heading = (
        f"`python -m tests.benchmarks.orders` measured these medians with {stored:,} orders in {STORES} stores. "
        f"One web worker, its database and the load shared {os.cpu_count()} cores. The load average was "
        f"{os.getloadavg()[1]:.1f}.\n\n"
        "| what | measured | mark |\n|---|---|---|\n"
    )
    return heading + "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
