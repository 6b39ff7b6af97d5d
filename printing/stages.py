"""How long the stages of a rendering take, for an observer such as metrics."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

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
