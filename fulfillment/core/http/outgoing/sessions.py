"""Requests to allowed addresses only, without redirects, that read a limited number of bytes."""

import asyncio
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from fulfillment.core.http.outgoing.url_policy import address_of, may_connect

# The status, headers and first bytes of a response.
Response = tuple[int, Mapping[str, str], bytes]


class Blocked(OSError):
    """The address is not one we send to."""


@dataclass(slots=True)
class RequestProgress:
    """Whether the request used a kept connection, and whether the server may have received a part of it."""

    is_reused: bool = False
    is_sent: bool = False


def checked_session(
    scheme: str,
    *,
    taken_bytes: int,
    headers: dict[str, str],
    connect_seconds: float | None = None,
    sockets: WeakSet[socket.socket] | None = None,
    **options: Any,
) -> aiohttp.ClientSession:
    """A session for `exchange` without cookies, proxies and decompression; the caller limits the total time.

    Reads at most `taken_bytes` after each request. `sockets` gets those that it opens; `options` are the connector's.
    """
    tracing = aiohttp.TraceConfig()
    tracing.on_connection_reuseconn.append(_note_reused)
    tracing.on_request_headers_sent.append(_note_sent)
    open_socket = partial(_checked_socket, scheme=scheme, sockets=sockets)
    connector = aiohttp.TCPConnector(ssl=tls_context(), socket_factory=open_socket, **options)
    handler = partial(_LimitedHandler, loop=asyncio.get_running_loop(), limit=taken_bytes)
    connector._factory = handler  # type: ignore[assignment]  # noqa: SLF001 - it has no other name
    return aiohttp.ClientSession(
        connector=connector,
        trace_configs=[tracing],
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=["Accept-Encoding"],
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds),
        headers=headers,
    )


async def exchange(
    session: aiohttp.ClientSession,
    method: str,
    url: URL,
    body: bytes,
    headers: Mapping[str, str],
    *,
    limit: int,
    progress: RequestProgress,
) -> Response:
    async with session.request(
        method, url, data=body, headers=headers, allow_redirects=False, trace_request_ctx=progress
    ) as response:
        content = b""
        while len(content) < limit and (part := await response.content.read(limit - len(content))):
            content += part
        if not response.content.at_eof():
            # The rest is not read: a slow server could hold the connection.
            response.close()
        return response.status, response.headers, content


async def _note_reused(session: aiohttp.ClientSession, context: SimpleNamespace, event: Any) -> None:
    context.trace_request_ctx.is_reused = True


async def _note_sent(session: aiohttp.ClientSession, context: SimpleNamespace, event: Any) -> None:
    context.trace_request_ctx.is_sent = True


def _checked_socket(
    entry: tuple[Any, ...], *, scheme: str, sockets: WeakSet[socket.socket] | None
) -> socket.socket:
    """Checks the resolved address right before it is connected to."""
    if not may_connect(address_of(entry), scheme=scheme):
        # The webhook's owner reads this, so it must not reveal addresses of internal names.
        raise Blocked("The URL does not lead to a public Internet address.")
    family, kind, protocol, _, _ = entry
    new_socket = socket.socket(family, kind, protocol)
    if sockets is not None:
        sockets.add(new_socket)
    return new_socket


@cache
def tls_context() -> ssl.SSLContext:
    """Python's defaults, but no key exchange with a prime of the server's choice: one of 10,000 bits keeps the event
    loop busy for half a second. Cached because loading certificates takes longer than a request.
    """
    context = ssl.create_default_context()
    names = [cipher["name"] for cipher in context.get_ciphers()]
    context.set_ciphers(":".join(name for name in names if not name.startswith("DHE-")))
    return context


class _LimitedHandler(ResponseHandler):
    """Closes the connection of a server that sends more than `limit` bytes after a request.

    1xx responses take far longer to parse than to send, and responses without a request pile up on a kept connection.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, *, limit: int) -> None:
        super().__init__(loop)
        self._limit = self._left = limit

    def set_response_params(self, **parameters: Any) -> None:
        self._left = self._limit
        super().set_response_params(**parameters)

    def data_received(self, data: bytes) -> None:
        head = data[: max(self._left, 0)]
        self._left -= len(data)
        super().data_received(head)
        if self._left < 0 and self.transport is not None:
            self.transport.abort()
