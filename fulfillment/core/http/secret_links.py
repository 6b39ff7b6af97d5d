"""URLs whose path is a secret: one-time links and signed files.

A URL pattern marks its secret itself, as `<secret:token>`, and logs mask it from then on.
"""

import re
from collections.abc import Iterable, Iterator

from django.urls import URLPattern, URLResolver, register_converter
from django.urls.converters import StringConverter

from fulfillment.core.observability import logs

PLACE = re.compile(r"<(?:(\w+):)?\w+>")


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
