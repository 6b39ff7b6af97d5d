"""What something costs: processor time of this thread, which other work on the machine does not lengthen."""

import time
from collections.abc import Callable
from typing import Any


def milliseconds(work: Callable[[], Any], *, tries: int = 3) -> float:
    """Of the cheapest of several tries: the first of them fills caches."""
    return min(_one(work) for _ in range(tries)) * 1000


def _one(work: Callable[[], Any]) -> float:
    began = time.thread_time()
    work()
    return time.thread_time() - began
