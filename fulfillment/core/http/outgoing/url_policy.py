"""The policy of outgoing requests: public addresses over https, and networks in WEBHOOK_ALLOWED_NETWORKS.

Checked twice: by `refusal` when a URL is saved, and for the very address of each connection.
"""

import re
import socket
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from yarl import URL

Address = IPv4Address | IPv6Address
MAX_URL_LENGTH = 2000
RESOLVE_SECONDS = 3
RESOLVERS = 2
_free = BoundedSemaphore(RESOLVERS)
# The address space that IANA allocated for the Internet, without NAT64, mapped and private addresses.
GLOBAL_UNICAST = IPv6Network("2000::/3")
NOT_PUBLIC = (
    IPv4Network("192.0.0.0/24"),
    IPv4Network("192.88.99.0/24"),
    IPv6Network("2001::/23"),
    IPv6Network("2001:db8::/32"),
    IPv6Network("2002::/16"),
    IPv6Network("3fff::/20"),
)
# Names that never stand for a host of the public Internet (RFC 6761, RFC 6762, ICANN's `internal`).
SPECIAL_USE = frozenset({"localhost", "local", "internal", "test", "invalid", "onion"})
# Public addresses of cloud-internal services: Azure's.
METADATA = frozenset({IPv4Address("168.63.129.16")})
# Ports of web services on the public Internet. Others are those of mail, databases and control panels.
PORTS = frozenset({443, 8443})
# yarl drops a user name that is empty.
USER_INFORMATION = re.compile(r"[^/?#]*//[^/?#]*@")
LOCAL_HINT = "To receive events on your own machine, run `fulfillment listen --forward-to` with this URL."
NETWORKS_HINT = (
    "The operator of the service can allow it as well: WEBHOOK_ALLOWED_NETWORKS names the network, such as "
    "127.0.0.0/8."
)


def is_allowed(address: Address) -> bool:
    """Whether an operator has named this address's network."""
    address = _unmap_address(address)
    return any(address in network for network in settings.WEBHOOK_ALLOWED_NETWORKS)


def is_public(address: Address) -> bool:
    address = _unmap_address(address)
    if address.version == 6 and address not in GLOBAL_UNICAST:
        return False
    return (
        address.is_global
        and not address.is_multicast
        and address not in METADATA
        and not any(address in network for network in NOT_PUBLIC if network.version == address.version)
    )


def may_connect(address: Address, *, scheme: str) -> bool:
    return is_allowed(address) or (scheme == "https" and is_public(address))


def refusal(url: str) -> str | None:
    """Why the URL is refused; None if it is allowed. Names that do not resolve now are allowed."""
    hint = ""
    try:
        parsed = parse(url)
        hint = _give_hint(parsed.raw_host or "")
        _check_reach(parsed)
    except ValueError as error:
        return f"{error}{hint}"
    return None


def _check_reach(parsed: URL) -> None:
    host = parsed.raw_host or ""
    literal = literal_address(host)
    addresses = [literal] if literal else _resolve(host.rstrip("."))
    if addresses and all(map(is_allowed, addresses)):
        return
    if not literal and _is_special_use(host):
        raise ValueError(f"the host {host} is not a name of the public Internet.")
    if not all(may_connect(address, scheme="https") for address in addresses):
        # Does not name the address: it may be of the operator's internal network.
        raise ValueError(f"the host {host} is not an address of the public Internet.")
    if parsed.scheme != "https":
        raise _not_https()
    if parsed.port not in PORTS:
        raise ValueError(f"port {parsed.port} is not open to webhooks; use 443 or 8443.")


def _not_https() -> ValueError:
    return ValueError("it must begin with https://.")


def _give_hint(host: str) -> str:
    """A hint for a webhook that is tried on the service's own machine; what other names resolve to is not revealed."""
    literal = literal_address(host)
    name = host.rstrip(".").lower()
    is_loopback = literal and _unmap_address(literal).is_loopback
    is_local = is_loopback or name == "localhost" or name.endswith(".localhost")
    return f" {LOCAL_HINT} {NETWORKS_HINT}" if is_local else ""


def parse(url: str) -> URL:
    """Parses the URL as it will be called; raises ValueError with a message for users."""
    if len(url) > MAX_URL_LENGTH:
        raise ValueError(f"it may have at most {MAX_URL_LENGTH} characters.")
    if "\\" in url or any(letter.isspace() or not letter.isprintable() for letter in url):
        raise ValueError("it must not contain spaces, control characters or backslashes.")
    try:
        parsed = URL(url)
        host, port = parsed.host, parsed.port
    except ValueError as error:
        raise ValueError("it is not an address such as https://example.com/events.") from error
    if parsed.scheme not in {"https", "http"}:
        raise _not_https()
    if not host or not port:
        raise ValueError("it is not an address such as https://example.com/events.")
    if USER_INFORMATION.match(url):
        raise ValueError("it must not contain a user name or password.")
    if parsed.fragment or url.endswith("#"):
        raise ValueError("it must not contain a fragment (#).")
    _check_host(parsed.raw_host or "")
    return parsed


def literal_address(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def address_of(entry: tuple[Any, ...]) -> Address:
    """The address of an entry of `getaddrinfo`, without the zone of IPv6."""
    return ip_address(str(entry[4][0]).partition("%")[0])


def _check_host(host: str) -> None:
    if "%" in host:
        raise ValueError("its host must not contain a percent sign.")
    if literal_address(host):
        return
    last = host.rstrip(".").rpartition(".")[2]
    # What a resolver takes for a number in decimal, octal, hexadecimal or short form.
    if not last or last.isdigit() or last.lower().startswith("0x"):
        raise ValueError("write an IPv4 address as four decimal numbers, such as 203.0.113.7.")
    if not host.isascii() or host.startswith(".") or ".." in host:
        raise ValueError("its host is not a public Internet name.")


def _is_special_use(host: str) -> bool:
    labels = host.rstrip(".").lower().split(".")
    return len(labels) == 1 or labels[-1] in SPECIAL_USE


def _unmap_address(address: Address) -> Address:
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _resolve(host: str) -> list[Address]:
    """The addresses of a name; empty if it does not resolve within RESOLVE_SECONDS, or too many others do not."""
    # Silent name servers must not hold all web threads. The sender checks each address again.
    if not _free.acquire(blocking=False):
        return []
    lookup = _start_resolvers().submit(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
    lookup.add_done_callback(lambda _: _free.release())
    try:
        return [address_of(entry) for entry in lookup.result(RESOLVE_SECONDS)]
    except (OSError, UnicodeError, TooLate):
        return []


@cache
def _start_resolvers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(RESOLVERS, thread_name_prefix="resolve")
