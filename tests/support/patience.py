"""How long tests wait: beside them another test may take all of a core, or hold a lock or a transaction for a minute.

A wait that ends is no promise. What is promised is asserted separately: as a count, a ratio, processor time, or the
best of several rounds.
"""

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 240.0
# A mark by the clock stands for a machine of its own: one of so many rounds must reach it.
ROUNDS = 5
# `fast_clock` runs so many times as fast; more would make as much more of what other tests beside it take.
FASTER = 4


def wait_for(condition: Callable[[], Any], seconds: float = PATIENCE, *, every: float = 0.05) -> Any:
    """The first value of `condition` that is true."""
    deadline = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(every)
    return result


def least_seconds(work: Callable[[], Any], mark: float, *, rounds: int = ROUNDS) -> float:
    """By the clock, of the quickest of several rounds; the first one within the mark is the last."""
    least = float("inf")
    for _ in range(rounds):
        began = time.monotonic()
        work()
        least = min(least, time.monotonic() - began)
        if least < mark:
            break
    return least
