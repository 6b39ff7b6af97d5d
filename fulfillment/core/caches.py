"""Caches that live as long as the process or the request; those of the process can be cleared at once."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

Value = TypeVar("Value")


class Clearable(Protocol):
    def clear(self) -> None: ...


_registered: list[Clearable] = []


def register_cache(cache: Clearable) -> None:
    """Registers a cache that lives as long as the process, so that tests can clear it."""
    _registered.append(cache)


def clear_caches() -> None:
    for cache in _registered:
        cache.clear()


def once_per_request(request: Any, name: str, make: Callable[[], Value]) -> Value:
    """The value, made at the first call and kept as the attribute `name` of the request."""
    if not hasattr(request, name):
        setattr(request, name, make())
    value: Value = getattr(request, name)
    return value
