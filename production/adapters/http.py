"""HTTP requests to providers: checked addresses, no redirects, limited time and response size."""

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import aiohttp

from applications.webhooks.sending.client import Blocked, bare_session, guarded_socket
from applications.webhooks.sending.url_policy import parse
from production.adapters.addresses import not_allowed
from production.interface import ProviderRefused, ProviderUnavailable

MAX_BYTES = 256 * 1024
CONNECT_SECONDS = 15
USER_AGENT = "StoreFulfillment-Production/1"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def send_request(
    method: str, url: str, body: bytes, headers: Mapping[str, str], *, seconds: float
) -> HttpAnswer:
    """Raises ProviderRefused for a forbidden address, ProviderUnavailable without a complete response.

    Where the connection is cut, PUT and DELETE are sent a second time (by aiohttp), POST is not.
    """
    try:
        parsed = parse(url)
    except ValueError as error:
        raise ProviderRefused(
            f"The address {url[:100]} cannot be used: {error}", concerns_all=True
        ) from error
    sent = _Sent()
    try:
        return asyncio.run(_exchange(method, parsed, body, headers, seconds, sent))
    except TimeoutError as error:
        raise ProviderUnavailable(
            f"No complete answer within {seconds:g} seconds.", is_unsent=not sent.began
        ) from error
    except (aiohttp.ClientError, OSError) as error:
        if isinstance(getattr(error, "os_error", error), Blocked):
            raise ProviderRefused(not_allowed(parsed.raw_host or url), concerns_all=True) from error
        raise ProviderUnavailable(
            f"The connection failed: {_reason(error)}.", is_unsent=not sent.began
        ) from error


@dataclass(slots=True)
class _Sent:
    """Whether the provider may have received a part of the request."""

    began: bool = False


async def _exchange(
    method: str, url: Any, body: bytes, headers: Mapping[str, str], seconds: float, sent: _Sent
) -> HttpAnswer:
    async def note(*_: Any) -> None:
        sent.began = True

    tracing = aiohttp.TraceConfig()
    tracing.on_request_headers_sent.append(note)
    connector = aiohttp.TCPConnector(
        ssl=_trusted(), socket_factory=lambda info: guarded_socket(info, url.scheme), force_close=True
    )
    agent = {"User-Agent": USER_AGENT}
    async with (
        asyncio.timeout(seconds),
        bare_session(connector, tracing, agent, connect_seconds=CONNECT_SECONDS) as session,
        session.request(method, url, data=body, headers=headers, allow_redirects=False) as response,
    ):
        content = b""
        async for part in response.content.iter_chunked(16 * 1024):
            content += part
            if len(content) >= MAX_BYTES:
                response.close()
                break
        text = content[:MAX_BYTES].decode("utf-8", "replace").replace("\x00", "")
        return HttpAnswer(response.status, {k.lower(): v for k, v in response.headers.items()}, text)


@cache
def _trusted() -> ssl.SSLContext:
    """The TLS context, cached because loading certificates takes longer than a request."""
    return ssl.create_default_context()


def _reason(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "the host's name does not resolve"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"TLS: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return error.os_error.strerror or str(error.os_error)
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it was closed without an answer"
    return str(error) or type(error).__name__
