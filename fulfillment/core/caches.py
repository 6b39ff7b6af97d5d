"""Values that live as long as the request."""

from collections.abc import Callable
from typing import Any, TypeVar

Value = TypeVar("Value")


def once_per_request(request: Any, name: str, make: Callable[[], Value]) -> Value:
    """The value, made at the first call and kept as the attribute `name` of the request."""
    if not hasattr(request, name):
        setattr(request, name, make())
    value: Value = getattr(request, name)
    return value
