"""What something costs: processor time of this thread, which other work on the machine does not lengthen."""

import time
from collections.abc import Callable
from typing import Any


def milliseconds(work: Callable[[], Any], *, tries: int = 3) -> float:
    """Of the cheapest of several tries: the first of them fills caches.

    Each begins a few frames deeper: where a frame begins at the very edge of a piece of its stack, CPython maps and
    unmaps the next piece at each call, which takes 30 times as long as the call.
    """
    return min(_one(work, deeper=7 * number) for number in range(tries)) * 1000


def _one(work: Callable[[], Any], *, deeper: int) -> float:
    if deeper:
        return _one(work, deeper=deeper - 1)
    began = time.thread_time()
    work()
    return time.thread_time() - began
