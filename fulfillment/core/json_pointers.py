"""Places within a JSON value: cheap links while something is walked through, made into pointers where one is shown."""

from __future__ import annotations

# The place around it and the name or index within that; None is the whole.
Place = tuple["Place", str | int] | None


def pointer_to(place: Place) -> str:
    """The JSON pointer (RFC 6901)."""
    parts: list[str] = []
    while place is not None:
        place, name = place
        parts.append(str(name).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{part}" for part in reversed(parts))
