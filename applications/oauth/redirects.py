"""Redirect URIs of authorization responses: checks them and adds parameters."""

import re
from collections.abc import Iterable
from urllib.parse import quote, urlencode, urlsplit

from django.conf import settings
from django.http import HttpResponse

# RFC 8252, section 7.3: a native application may listen on any port of a loopback IP address, over http.
LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::([1-9][0-9]{0,4}))?((?:[/?].*)?)\Z", re.DOTALL)


def is_registered(uri: str, registered: Iterable[str]) -> bool:
    """Compares URIs exactly, except for the port of a loopback IP address."""
    known = list(registered)
    if uri in known:
        return True
    portless = _without_port(uri)
    return portless is not None and portless in {_without_port(candidate) for candidate in known}


def with_parameters(uri: str, parameters: Iterable[tuple[str, str]], *, fragment: bool) -> str:
    """The address with an error response and the issuer (RFC 9207) added."""
    added = urlencode([*parameters, ("iss", settings.PUBLIC_URL)])
    if fragment:
        return f"{uri}#{added}"
    separator = "&" if "?" in uri else "?"
    return f"{uri}{separator}{added}"


def with_issuer(location: str) -> str:
    """Adds the issuer to a successful response, which has parameters in its query or fragment."""
    return f"{location}&iss={quote(settings.PUBLIC_URL, safe='')}"


def origin_source(uri: str) -> str:
    """The origin as a source of a Content-Security-Policy, which has no way to write an IPv6 address."""
    parts = urlsplit(uri)
    return f"{parts.scheme}:" if "[" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def redirect(location: str, *, status: int) -> HttpResponse:
    """Redirects to a checked URI; Django's own redirect refuses long ones."""
    return HttpResponse(status=status, headers={"Location": location, "Cache-Control": "no-store"})


def _without_port(uri: str) -> str | None:
    match = LOOPBACK.match(uri)
    if match is None or int(match[2] or 80) > 65535:
        return None
    return match[1] + match[3]
