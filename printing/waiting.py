"""How long the stages of a rendering take, for an observer such as metrics, and how long its thread waited.

To wait for a turn with a large picture is no time of its work.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar


class _Waited(threading.local):
    seconds = 0.0


_waited = _Waited()
# What its thread had waited before a request, whose waits have one limit together. Set by the service.
waited_before: ContextVar[float | None] = ContextVar("waited_before", default=None)


def waited_seconds() -> float:
    """The seconds that this thread waited since it began."""
    return _waited.seconds


def own_time() -> float:
    """Counts as `time.monotonic` does, but stands still while this thread waits: for deadlines of its work."""
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


Observer = Callable[[str, float], None]
_observer: Observer | None = None


def configure(*, observe: Observer | None) -> None:
    """Sets what gets the name and the seconds of each stage."""
    global _observer
    _observer = observe


@contextmanager
def stage(name: str) -> Iterator[None]:
    started = time.perf_counter()
    try:
        yield
    finally:
        if _observer is not None:
            _observer(name, time.perf_counter() - started)


def observe_renderer(stages: Mapping[str, float], seconds: float | None = None) -> None:
    """The stages that a renderer reports, and what its caller waited beyond them."""
    if _observer is not None:
        for name, spent in stages.items():
            _observer(name, spent)
        if seconds is not None:
            _observer("hand-over", seconds - sum(stages.values()))
