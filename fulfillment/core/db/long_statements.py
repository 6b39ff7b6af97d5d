"""How long a thread waits for statements that take long: meanwhile it serves no other request."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Only what is above it counts: in a busy process a thread may wait so long for the interpreter after any statement.
SHORT_SECONDS = 0.1


class _Waited(threading.local):
    seconds = 0.0


_waited = _Waited()


def waited_seconds() -> float:
    """All that this thread waited since it began."""
    return _waited.seconds


def count_since(began: float) -> None:
    """Counts a statement that began at this time of `time.monotonic`."""
    _waited.seconds += max(0.0, time.monotonic() - began - SHORT_SECONDS)


def count_statement(run: Callable[..., Any], *values: Any) -> Any:
    """Counts for `connection.execute_wrapper`; statements of `fulfillment.core.db.prepared` count by themselves."""
    began = time.monotonic()
    try:
        return run(*values)
    finally:
        count_since(began)


@contextmanager
def uncounted() -> Iterator[None]:
    """Does not count the wait of orders for those of others at their store: the waiting one is not its cause."""
    before = _waited.seconds
    try:
        yield
    finally:
        _waited.seconds = before
