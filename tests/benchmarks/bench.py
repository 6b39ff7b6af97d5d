"""`make bench`: every row against the limit of the machine and the usual builds, in turn, in one run.

Ratios are medians over rounds; single figures of a shared machine say little. Writes docs/performance.md.
"""

import argparse
import os
import sys

from fulfillment.local import supervision
from tests.benchmarks.databases import ORDERS, PRODUCTS, STORES, TOKENS, prepare_database
from tests.benchmarks.load import require_wrk
from tests.benchmarks.ratios import Pace, measure_growth, measure_rows
from tests.benchmarks.report import Report, write_report
from tests.benchmarks.tail import measure_tail

PARTS = ("rows", "growth", "tail")


def main() -> None:
    arguments = _arguments()
    require_wrk()
    supervision.raise_on_stop_signal()
    try:
        _measure(arguments)
    except supervision.Stopped:
        sys.exit("Stopped; nothing was written.")


def _measure(arguments: argparse.Namespace) -> None:
    pace = Pace(arguments.rounds, arguments.seconds, arguments.connections)
    small = prepare_database(1)
    report = Report(pace, small.facts["statements"], load_before=os.getloadavg()[0])
    if "rows" in arguments.parts:
        report.rows = measure_rows(small, pace)
    if "growth" in arguments.parts:
        report.scale = arguments.scale
        print(
            f"Beside {report.scale} times the data: {STORES * report.scale:,} stores, "
            f"{PRODUCTS * report.scale:,} products, {ORDERS * report.scale:,} orders, "
            f"{TOKENS * report.scale:,} access tokens",
            flush=True,
        )
        report.growth = measure_growth(small, prepare_database(report.scale), pace)
    if "tail" in arguments.parts:
        report.tail = measure_tail(small, 10)
    report.load_after = os.getloadavg()[0]
    print(report.summary(), flush=True)
    if arguments.write and set(arguments.parts) == set(PARTS):
        write_report(report)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument(
        "--scale", type=int, default=10, help="growth is measured beside so many times the data"
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--write", action=argparse.BooleanOptionalAction, default=True)
    return parser.parse_args()


if __name__ == "__main__":
    main()
