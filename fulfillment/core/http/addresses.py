"""Addresses: those for programs and those of pages, those that are secrets, and those of clients.

A URL pattern whose path is a secret, such as a one-time link or a signed file, marks it as `<secret:token>`; logs mask
it from then on.
"""

import ipaddress
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from django.urls import URLPattern, URLResolver, register_converter
from django.urls.converters import StringConverter

from fulfillment.core.observability import logs

API_PREFIX = "/api/"
# The API reference: pages below the URL of the API.
REFERENCE = "/api/v1/docs"
# For programs, or files at signed URLs: without session, cookie and signed-in user.
# These endpoints never return pages.
PROGRAM_PREFIXES = (
    API_PREFIX,
    "/oauth/token",
    "/oauth/revoke",
    "/.well-known/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/proofs/",
    "/assets/",
    "/production/",
)
PLACE = re.compile(r"<(?:(\w+):)?\w+>")


def is_api(path: str) -> bool:
    return path.startswith(API_PREFIX) and not path.startswith(REFERENCE)


def is_reference(path: str) -> bool:
    return path == REFERENCE or path.startswith(REFERENCE + "/")


def is_for_programs(path: str) -> bool:
    return path.startswith(PROGRAM_PREFIXES) and not path.startswith(REFERENCE)


def parameter_name(name: str) -> str:
    """The API's name of a path parameter: `storeID` for `store_id`."""
    first, *other_words = name.split("_")
    return first + "".join("ID" if word == "id" else word.capitalize() for word in other_words)


@lru_cache(maxsize=1024)
def rate_limit_key_for_ip(address: str) -> str:
    """The address or, for IPv6, its /64 network, which belongs to one customer; `unknown` if invalid."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((int(parsed), 64), strict=False))
    return str(parsed)


class SecretConverter(StringConverter):
    """A part of a path that opens something to everyone who knows it."""


register_converter(SecretConverter, "secret")


def mask_links(patterns: Iterable[URLPattern | URLResolver]) -> None:
    """Masks the secrets of these URLs in logs. The longest routes first: a short one may begin like another."""
    routes = sorted(secret_routes(patterns), key=len, reverse=True)
    logs.mask_links("|".join(map(_before_secret, routes)))


def secret_routes(patterns: Iterable[URLPattern | URLResolver], prefix: str = "/") -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from secret_routes(pattern.url_patterns, route)
        elif "<secret:" in route:
            yield route


def _before_secret(route: str) -> str:
    """An expression for what stands before the secret."""
    parts = PLACE.split(route.partition("<secret:")[0])[::2]
    return r"[^/\s]+".join(map(re.escape, parts))
