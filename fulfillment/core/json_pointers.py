"""Locations within a JSON value: linked tuples during a walk, converted to JSON pointers for messages."""

from __future__ import annotations

# The parent location and the name or index in it; None is the whole value.
Place = tuple["Place", str | int] | None


def pointer_to(place: Place) -> str:
    """The JSON pointer (RFC 6901)."""
    parts: list[str] = []
    while place is not None:
        place, name = place
        parts.append(str(name).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{part}" for part in reversed(parts))
