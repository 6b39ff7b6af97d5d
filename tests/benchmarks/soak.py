"""What the service survives, with figures: `python -m tests.benchmarks.soak --only races --only kills`.

Real processes of Granian and the worker on loopback, and a PostgreSQL of their own in var/.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable

from fulfillment.local import supervision
from tests.benchmarks import (
    soak_budgets,
    soak_cases,
    soak_cuts,
    soak_faults,
    soak_ha,
    soak_kills,
    soak_neighbours,
    soak_outcome,
    soak_production,
    soak_races,
    soak_recovery,
    soak_reload,
    soak_restarts,
    soak_scene,
)

Part = Callable[[argparse.Namespace], list[str]]
PARTS: dict[str, tuple[str, Part]] = {
    "races": (soak_races.MARK, lambda chosen: soak_races.measure(chosen.count or soak_races.ROUNDS)),
    "budgets": (soak_budgets.MARK, lambda chosen: soak_budgets.measure(chosen.count or soak_budgets.ROUNDS)),
    "cases": (soak_cases.MARK, lambda chosen: soak_cases.measure()),
    "cuts": (soak_cuts.MARK, lambda chosen: soak_cuts.measure(chosen.count or soak_cuts.CUTS)),
    "kills": (soak_kills.MARK, lambda chosen: soak_kills.measure(chosen.count or soak_kills.KILLS)),
    "production": (
        soak_outcome.MARK,
        lambda chosen: soak_production.measure(
            chosen.count or soak_production.ORDERS, adapters=chosen.adapter or tuple(soak_production.PRESSES)
        ),
    ),
    "recovery": (
        soak_recovery.MARK,
        lambda chosen: soak_recovery.measure(chosen.count or soak_recovery.ROUNDS),
    ),
    "restarts": (
        soak_restarts.MARK,
        lambda chosen: soak_restarts.measure(chosen.count or soak_restarts.RESTARTS),
    ),
    "reload": (soak_reload.MARK, lambda chosen: soak_reload.measure(chosen.count or soak_reload.RELOADS)),
    "faults": (soak_faults.MARK, lambda chosen: soak_faults.measure()),
    "ha": (soak_ha.MARK, lambda chosen: soak_ha.measure(chosen.count or 1)),
    "neighbours": (
        soak_neighbours.MARK,
        lambda chosen: soak_neighbours.measure(chosen.kind or (), seconds=chosen.seconds),
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(PARTS), help="these parts; else all")
    parser.add_argument(
        "--kind",
        action="append",
        choices=list(soak_neighbours.KINDS),
        help="these kinds of neighbours; else all",
    )
    parser.add_argument(
        "--adapter",
        action="append",
        choices=list(soak_production.PRESSES),
        help="these adapters of print jobs; else all",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=soak_neighbours.SECONDS,
        help="how long each kind of neighbours lasts",
    )
    parser.add_argument("--count", type=int, help="rounds, cuts, kills or orders of the chosen part")
    chosen = parser.parse_args()
    supervision.raise_on_stop_signal()
    soak_scene.prepare()
    # Every part runs, also after a failed one.
    failed = [name for name in chosen.only or PARTS if _ran_badly(name, chosen)]
    return int(bool(failed))


def _ran_badly(name: str, chosen: argparse.Namespace) -> bool:
    mark, measure = PARTS[name]
    before, began = os.getloadavg()[0], time.monotonic()
    print(f"== {name}; mark: {mark}", flush=True)
    failures = [line for line in measure(chosen) if line.startswith("FAILED")]
    print(
        f"   {f'{len(failures)} FAILED' if failures else 'reached'} in {time.monotonic() - began:.0f} s, load "
        f"average {before:.1f} before and {os.getloadavg()[0]:.1f} after",
        flush=True,
    )
    return bool(failures)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except supervision.Stopped:
        sys.exit(130)
