"""Where adapters may connect to: public addresses, and the networks that WEBHOOK_ALLOWED_NETWORKS names."""

import socket
import time
from ipaddress import ip_address

from applications.webhooks.sending.url_policy import may_connect, refusal
from production.interface import ProviderRefused, ProviderUnavailable


def connect_socket(host: str, port: int, *, seconds: float) -> socket.socket:
    """A socket connected to a checked address; the name is not resolved again."""
    deadline = time.monotonic() + seconds
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ProviderUnavailable(f"The name {host} does not resolve.", is_unsent=True) from error
    allowed = [entry for entry in found if is_allowed_address(str(entry[4][0]))]
    if not allowed:
        raise ProviderRefused(not_allowed(host))
    reason = "no address answered"
    for family, kind, protocol, _, address in allowed:
        # A name may have thousands of addresses.
        if time.monotonic() > deadline:
            break
        connection = socket.socket(family, kind, protocol)
        connection.settimeout(max(0.1, deadline - time.monotonic()))
        try:
            connection.connect(address)
        except OSError as error:
            connection.close()
            reason = error.strerror or str(error) or type(error).__name__
        else:
            connection.setblocking(False)
            return connection
    raise ProviderUnavailable(f"No connection to {host}, port {port}: {reason}.", is_unsent=True)


def url_refusal(url: str) -> str | None:
    """Why a provider may not have this address, by the rule of webhooks."""
    if not url or (mistake := refusal(url)) is None:
        return None
    return f"{mistake[0].upper()}{mistake[1:]}"


def host_refusal(host: str) -> str | None:
    return url_refusal(f"https://{f'[{host}]' if ':' in host else host}/")


def is_allowed_address(address: str) -> bool:
    return may_connect(ip_address(address.partition("%")[0]), scheme="https")


def not_allowed(host: str) -> str:
    return (
        f"{host} is not an address of the public Internet. The operator can allow its network in "
        "WEBHOOK_ALLOWED_NETWORKS."
    )
