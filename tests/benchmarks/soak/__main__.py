"""What the service survives, with figures: `python -m tests.benchmarks.soak --only races --only kills`.

Real processes of Granian and the worker on loopback, and a PostgreSQL of their own in var/.
"""

import argparse
import inspect
import os
import sys
import time
from typing import Any

from fulfillment.local import supervision
from tests.benchmarks.soak import (
    budgets,
    cases,
    cuts,
    faults,
    ha,
    kills,
    neighbours,
    production,
    races,
    recovery,
    reload,
    restarts,
    scene,
)

# Each has its MARK, and `measure`, which gives a line for each finding; those that begin with FAILED miss the mark.
PARTS: dict[str, Any] = {
    "races": races,
    "budgets": budgets,
    "cases": cases,
    "cuts": cuts,
    "kills": kills,
    "production": production,
    "recovery": recovery,
    "restarts": restarts,
    "reload": reload,
    "faults": faults,
    "ha": ha,
    "neighbours": neighbours,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS), help="these parts; else all")
    parser.add_argument(
        "--kind", action="append", choices=list(neighbours.KINDS), help="these neighbours; else all"
    )
    parser.add_argument(
        "--adapter",
        action="append",
        choices=list(production.PRESSES),
        help="these adapters of print jobs; else all",
    )
    parser.add_argument("--count", type=int, help="rounds, cuts, kills or orders; seconds of each neighbour")
    chosen = parser.parse_args()
    options = {"count": chosen.count, "kinds": chosen.kind, "adapters": chosen.adapter}
    supervision.raise_on_stop_signal()
    scene.prepare()
    # Every part runs, also after a failed one.
    failed = [name for name in chosen.only or PARTS if _ran_badly(name, options)]
    return int(bool(failed))


def _ran_badly(name: str, options: dict[str, Any]) -> bool:
    part, failures = PARTS[name], 0
    given = {key: options[key] for key in inspect.signature(part.measure).parameters if options.get(key)}
    before, began = os.getloadavg()[0], time.monotonic()
    print(f"== {name}; mark: {part.MARK}", flush=True)
    for line in part.measure(**given):
        print(line, flush=True)
        failures += line.startswith("FAILED")
    print(
        f"   {f'{failures} FAILED' if failures else 'reached'} in {time.monotonic() - began:.0f} s, load "
        f"average {before:.1f} before and {os.getloadavg()[0]:.1f} after",
        flush=True,
    )
    return failures > 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except supervision.Stopped:
        sys.exit(130)
