"""Connections to providers: only to public addresses and to the networks that WEBHOOK_ALLOWED_NETWORKS names.

HTTP requests follow no redirects, and have limits of time and of the size of the response.
"""

import asyncio
import json
import socket
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from yarl import URL

from fulfillment.core.http.outgoing.sessions import Blocked, RequestProgress, checked_session, exchange
from fulfillment.core.http.outgoing.url_policy import address_of, may_connect, parse, refusal
from production.interface import Exchange, ProviderRefused, ProviderUnavailable

MAX_RESPONSE_BYTES = 256 * 1024
# On the wire: with the headers, and the sizes between the chunks of a response.
TAKEN_BYTES = 2 * MAX_RESPONSE_BYTES
CONNECT_SECONDS = 15
MAX_STORED_LENGTH = 10_000
MAX_PAUSE = 3600.0
BUSY = frozenset({408, 425, 429})
USER_AGENT = "StoreFulfillment-Production/1"


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def send_json(
    method: str,
    url: str,
    content: Mapping[str, Any],
    headers: Mapping[str, str],
    *,
    seconds: float,
    digests: Mapping[str, str] | None = None,
    is_dry_run: bool = False,
) -> tuple[ProviderResponse, Exchange]:
    """The response, and the exchange to be kept: headers are not in it, because they have secrets.

    `is_dry_run`: the request orders nothing, so that nothing was sent where its response is lost.
    """
    body = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    request = f"{method} {url}\n{body.decode()}"
    try:
        response = send_request(method, url, body, headers, seconds=seconds)
    except ProviderUnavailable as error:
        exchange = Exchange(request, str(error), digests or {})
        raise ProviderUnavailable(str(error), exchange, is_unsent=error.is_unsent or is_dry_run) from error
    response_text = f"{response.status}\n{response.text[:MAX_STORED_LENGTH]}"
    return response, Exchange(request, response_text, digests or {})


def failure(
    name: str,
    message: str,
    response: ProviderResponse,
    exchange: Exchange,
    *,
    is_unsent: bool = False,
    numbers: Collection[str] = (),
) -> ProviderRefused | ProviderUnavailable:
    """Tells what a response without success means: wrong credentials, busy, or a refusal of these jobs."""
    if response.status in {401, 403}:
        return ProviderRefused(
            f"{name} does not accept the credentials, or the clock of this machine is wrong"
            f"{': ' + message if message else ''}.",
            exchange,
            concerns_all=True,
        )
    if response.status in BUSY or response.status >= 500:
        pause = _retry_after(response.headers.get("retry-after", ""))
        return ProviderUnavailable(
            f"{name} is busy: it responded with {response.status}.", exchange, pause, is_unsent=is_unsent
        )
    refusal_message = f"{name} refused: {message or response.status}"[:1000]
    return ProviderRefused(refusal_message, exchange, numbers=numbers, is_unsent=is_unsent)


def _retry_after(header: str) -> float | None:
    if header.strip().isdecimal():
        return min(float(header), MAX_PAUSE)
    try:
        seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_PAUSE)


def send_request(
    method: str, url: str, body: bytes, headers: Mapping[str, str], *, seconds: float
) -> ProviderResponse:
    """Raises ProviderRefused for a forbidden address, ProviderUnavailable without a complete response.

    Where the connection is cut, GET, PUT and DELETE are sent a second time (by aiohttp), POST is not. A response is cut
    at MAX_RESPONSE_BYTES.
    """
    try:
        target = parse(url)
    except ValueError as error:
        raise ProviderRefused(
            f"The address {url[:100]} cannot be used: {error}", concerns_all=True
        ) from error
    progress = RequestProgress()
    try:
        return asyncio.run(_send_request(method, target, body, headers, seconds, progress))
    except TimeoutError as error:
        raise ProviderUnavailable(
            f"No complete response within {seconds:g} seconds.", is_unsent=not progress.is_sent
        ) from error
    except (aiohttp.ClientError, OSError) as error:
        if isinstance(getattr(error, "os_error", error), Blocked):
            raise ProviderRefused(not_allowed(target.raw_host or url), concerns_all=True) from error
        raise ProviderUnavailable(
            f"The connection failed: {_describe_reason(error)}.", is_unsent=not progress.is_sent
        ) from error


async def _send_request(
    method: str, url: URL, body: bytes, headers: Mapping[str, str], seconds: float, progress: RequestProgress
) -> ProviderResponse:
    session_context = checked_session(
        url.scheme,
        taken_bytes=TAKEN_BYTES,
        headers={"User-Agent": USER_AGENT},
        connect_seconds=CONNECT_SECONDS,
        force_close=True,
    )
    async with asyncio.timeout(seconds), session_context as session:
        status, received_headers, content = await exchange(
            session, method, url, body, headers, limit=MAX_RESPONSE_BYTES, progress=progress
        )
    text = content.decode("utf-8", "replace").replace("\x00", "")
    return ProviderResponse(status, {name.lower(): value for name, value in received_headers.items()}, text)


def _describe_reason(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "the host's name does not resolve"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"TLS: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error.strerror or str(error.os_error)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it was closed without an answer"
    return str(error) or type(error).__name__


def connect_socket(host: str, port: int, *, seconds: float) -> socket.socket:
    """A socket connected to a checked address; the name is not resolved again."""
    deadline = time.monotonic() + seconds
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ProviderUnavailable(f"The name {host} does not resolve.", is_unsent=True) from error
    addresses_allowed = [entry for entry in addresses if may_connect(address_of(entry), scheme="https")]
    if not addresses_allowed:
        raise ProviderRefused(not_allowed(host))
    reason = "no address answered"
    for family, kind, protocol, _, address in addresses_allowed:
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


def not_allowed(host: str) -> str:
    return (
        f"{host} is not an address of the public Internet. The operator can allow its network in "
        "WEBHOOK_ALLOWED_NETWORKS."
    )
