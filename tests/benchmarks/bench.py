"""`make bench`: every row against the limit of the machine and the usual builds, in turn, in one run.

Ratios are medians over rounds; single figures of a shared machine say little. Writes docs/performance.md.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping

from fulfillment.local import supervision
from tests.benchmarks.databases import DOCUMENT, Database, Size, prepare_database
from tests.benchmarks.load import require_wrk
from tests.benchmarks.ratios import Pace, Runs, cost_ratio, measure_growth, measure_rows, ratio, reaches
from tests.benchmarks.rows import Row
from tests.benchmarks.tail import measure_tail
from tests.support.figures import write_between

SMALL, SCALE = Size(), 10
GROWTH_MARK, TAIL_MARK = 0.8, 10
UNDER = " **(missed)**"
TEXT = """
`make bench` writes this section; it needs `wrk`. It compares the service with the *limit* and the *peer*. The service
runs as in production, with one web worker and 8 threads.

All three run in turn on the same machine and database, with {pace.connections} connections. After a warm-up round, \
{pace.rounds} rounds
of {pace.seconds} s each count. Each ratio is the median of these rounds. Both ratios of a cell must
reach the target. The load average on {cores} shared cores was {before:.1f} before the run and \
{after:.1f} after it.

| row | requests/s | p50 ms | p99 ms | CPU ms | limit CPU | queries | worker MB | of limit | times peer |
|---|---|---|---|---|---|---|---|---|---|
{rows}

### With {scale} times the data

Each figure is a read's rate with {scale} times the data, divided by its normal rate
(target: {mark}). The normal database has {size.stores:,} stores, {size.products:,} products, {size.orders:,} orders \
and {size.tokens:,} access tokens:

{growth}

### Waiting times at 70% load

{tail}
"""


def main() -> None:
    arguments = _arguments()
    require_wrk()
    supervision.raise_on_stop_signal()
    try:
        _measure(arguments)
    except supervision.Stopped:
        sys.exit("Stopped; nothing was written.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


def _measure(arguments: argparse.Namespace) -> None:
    pace = Pace(arguments.rounds, arguments.seconds, arguments.connections)
    before = os.getloadavg()[0]
    small = prepare_database("bench_1", SMALL)
    rows = _shown(_row_lines(small, pace))
    large = prepare_database(f"bench_{SCALE}", SMALL * SCALE)
    growth = _shown(_growth_lines(small, large, pace))
    tail = _tail_line(small)
    print(tail, flush=True)
    text = TEXT.format(
        pace=pace,
        cores=os.cpu_count(),
        before=before,
        after=os.getloadavg()[0],
        rows=rows,
        scale=SCALE,
        mark=GROWTH_MARK,
        size=SMALL,
        growth=growth,
        tail=tail,
    )
    if arguments.write:
        write_between(DOCUMENT, "api", text)


def _shown(lines: Iterator[str]) -> str:
    """All of them; each is printed as soon as it is there."""
    shown = []
    for line in lines:
        print(line, flush=True)
        shown.append(line)
    return "\n".join(shown)


def _row_lines(database: Database, pace: Pace) -> Iterator[str]:
    for row, results in measure_rows(database, pace):
        ours = results["ours"]
        cells = [
            f"{row.title} *(busy)*" if ours.is_busy else row.title,
            f"{ours.median('rate'):.0f}",
            f"{ours.median('p50'):.1f}",
            f"{ours.median('p99'):.1f}",
            _costs(ours),
            _costs(results["limit"]) if "limit" in results else "",
            str(database.facts["statements"][row.title]),
            f"{ours.memory:.0f}",
            *(_ratios(results, other, row) for other in ("limit", "peer")),
        ]
        yield f"| {' | '.join(cells)} |"


def _costs(runs: Runs) -> str:
    return " + ".join(f"{cost:.2f}" for cost in runs.costs)


def _ratios(results: Mapping[str, Runs], other: str, row: Row) -> str:
    if other not in results:
        return ""
    mark, ratios = row.marks[other], (ratio(results, other), cost_ratio(results, other))
    shown = " / ".join(f"{each:.2f}" if each < 10 else f"{each:.0f}" for each in ratios)
    return f"{shown} (≥ {mark}{'' if reaches(results, other, mark) else UNDER})"


def _growth_lines(small: Database, large: Database, pace: Pace) -> Iterator[str]:
    for title, kept, cost in measure_growth(small, large, pace):
        verdict = "" if kept >= GROWTH_MARK else UNDER
        yield f"- {title}: {kept:.2f}{verdict}, with {cost:.2f} times the processor time"


def _tail_line(database: Database) -> str:
    rate, ours, limit = measure_tail(database, 10)
    p99, failed = ours.percentile(0.99), ours.refused + ours.broken
    good = p99 <= TAIL_MARK and not failed
    return (
        f"The load generator sends {rate:,.0f} requests a second at fixed times, and does not wait for earlier "
        "responses. The "
        f"p50 was {ours.percentile(0.5):.2f} ms and the p99 {p99:.2f} ms (target: p99 at most {TAIL_MARK} ms"
        f"{'' if good else UNDER}). {failed} of {len(ours.times)} requests failed. The *limit* was measured "
        f"directly afterwards, at the same rate: its p50 was {limit.percentile(0.5):.2f} ms and its p99 "
        f"{limit.percentile(0.99):.2f} ms."
    )


if __name__ == "__main__":
    main()
