"""Reads the client address from trusted proxies."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from fulfillment.core.http.middleware import Middleware

Network = IPv4Network | IPv6Network

FORWARDING_HEADERS = (
    "HTTP_FORWARDED",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PORT",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
)
MAX_CHAIN_LENGTH = 20


class TrustedProxies(Middleware):
    """Sets REMOTE_ADDR to the client's address, for limits, sign-in and logs.

    Only peers in TRUSTED_PROXIES may forward addresses; the headers of others are removed. A WSGI server cannot
    distinguish X_Forwarded_For from X-Forwarded-For: the proxy must drop the former.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        meta = request.META
        if is_trusted(meta.get("REMOTE_ADDR", ""), settings.TRUSTED_PROXIES):
            if forwarded := meta.get("HTTP_X_FORWARDED_FOR"):
                meta["REMOTE_ADDR"] = client_address(meta["REMOTE_ADDR"], forwarded, settings.TRUSTED_PROXIES)
        else:
            for name in FORWARDING_HEADERS:
                meta.pop(name, None)
        return self.get_response(request)


def client_address(peer: str, forwarded: str, trusted: Sequence[Network]) -> str:
    """The last address of the chain that is not a trusted proxy: earlier ones may be forged."""
    address = peer
    for entry in reversed(forwarded.rsplit(",", MAX_CHAIN_LENGTH)[-MAX_CHAIN_LENGTH:]):
        stated = _without_port(entry.strip())
        try:
            ip_address(stated)
        except ValueError:
            return address
        address = stated
        if not is_trusted(address, trusted):
            return address
    return address


def is_trusted(address: str, trusted: Sequence[Network]) -> bool:
    return bool(trusted) and _is_within(address, tuple(trusted))


@lru_cache(maxsize=1024)
def _is_within(address: str, trusted: tuple[Network, ...]) -> bool:
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return any(parsed in network for network in trusted)


def _without_port(text: str) -> str:
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host, separator, _ = text.partition(":")
    return host if separator and "." in host else text
