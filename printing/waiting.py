"""How long a thread waited for its turn with a large picture: that is no time of its work."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class _Waited(threading.local):
    seconds = 0.0


_waited = _Waited()
# What its thread had waited before a request, whose waits have one limit together. Set by the service.
waited_before: ContextVar[float | None] = ContextVar("waited_before", default=None)


def waited_seconds() -> float:
    """All that this thread waited since it began."""
    return _waited.seconds


def own_time() -> float:
    """As `time.monotonic`, but it stands still while this thread waits: for deadlines of its work."""
    return time.monotonic() - _waited.seconds


def waited_of_request() -> float:
    before = waited_before.get()
    return 0.0 if before is None else _waited.seconds - before


@contextmanager
def counted() -> Iterator[None]:
    began = time.monotonic()
    try:
        yield
    finally:
        _waited.seconds += time.monotonic() - began
