"""`make bench`: every table, one after the other. A table that breaks does not keep the others from being taken."""

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

from tests.benchmarks import MISSED
from tests.benchmarks.load import require_wrk
from tests.benchmarks.quiet import wait_for_quiet

TABLES = ("bench", "delivery", "proofs", "press", "orders", "webhooks")


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where a table could not be taken; figures under their marks are in the tables."""
    parsed, options = _arguments(arguments)
    require_wrk()
    broken = []
    for table in parsed.tables:
        quiet, began = wait_for_quiet(), time.monotonic()
        print(f"\n== {table}{'' if quiet else ' (busy: other work is running)'}", flush=True)
        more = options if table == "bench" else []
        if table == "orders" and parsed.orders:
            more = ["--orders", str(parsed.orders)]
        code = subprocess.run(
            [sys.executable, "-m", f"tests.benchmarks.{table}", *more], check=False
        ).returncode
        print(f"== {table}: {_outcome(code)}, {time.monotonic() - began:.0f} s", flush=True)
        if code not in (0, MISSED):
            broken.append(table)
    if broken:
        print(f"\nCould not be taken: {', '.join(broken)}; the reason is above.", file=sys.stderr)
    return bool(broken)


def _outcome(code: int) -> str:
    return {0: "taken", MISSED: "taken, with figures under their marks"}.get(
        code, f"could not be taken ({code})"
    )


def _arguments(arguments: Sequence[str] | None) -> tuple[argparse.Namespace, list[str]]:
    """Ours, and those for the table of API requests (`--rounds`, `--seconds`, `--seconds` …)."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument(
        "--orders", type=int, help="beside how many orders (2000000 is what the marks are for)"
    )
    return parser.parse_known_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
