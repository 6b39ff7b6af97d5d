"""Suggests an existing address for one that does not exist."""

from collections.abc import Iterator
from functools import cache

from django.urls import Resolver404, URLPattern, get_resolver, resolve

from printing.text import near_name

ROOT = "/api/v1/"
# Addresses that people look for below the API, although they are outside of it.
OUTSIDE_THE_API = {
    "/api/v1/oauth/token": "/oauth/token",
    "/api/oauth/token": "/oauth/token",
    "/api/v1/token": "/oauth/token",
}
MAX_PARTS, MAX_PART_LENGTH = 8, 64


def near_address(path: str) -> str | None:
    """Tries the path without a trailing slash, in lower case, singular and below /api/v1; None if none exists."""
    requested = path.rstrip("/")
    if requested in OUTSIDE_THE_API:
        return OUTSIDE_THE_API[requested]
    parts = requested.removeprefix("/api").removeprefix("/v1").strip("/").split("/")
    if len(parts) > MAX_PARTS or any(len(part) > MAX_PART_LENGTH for part in parts):
        return None
    words = _list_words()
    corrected = (part if part in words else near_name(part, words) or part for part in parts)
    for candidate in (ROOT + "/".join(parts), ROOT + "/".join(corrected)):
        if candidate != path and _is_address(candidate):
            return candidate
    return None


def _is_address(path: str) -> bool:
    try:
        return resolve(path).func is not resolve("/api/").func
    except Resolver404:
        return False


@cache
def _list_words() -> frozenset[str]:
    """The fixed parts of all addresses of the API."""
    return frozenset(
        part for route in _list_routes(get_resolver()) for part in route.split("/") if part.isalpha()
    )


def _list_routes(resolver: object, before: str = "") -> Iterator[str]:
    for pattern in getattr(resolver, "url_patterns", ()):
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            if route.startswith(ROOT[1:]):
                yield route.removeprefix(ROOT[1:])
        elif ROOT[1:].startswith(route) or route.startswith(ROOT[1:]):
            yield from _list_routes(pattern, route)
