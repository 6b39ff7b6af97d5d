"""Sessions that connect only to allowed addresses, and read a limited number of bytes."""

import asyncio
import socket
import ssl
from functools import cache, partial
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler

from fulfillment.core.http.outgoing.url_policy import address_of, may_connect


class Blocked(OSError):
    """The address is not one we send to."""


def checked_session(
    scheme: str,
    *,
    taken_bytes: int,
    headers: dict[str, str],
    tracing: aiohttp.TraceConfig,
    connect_seconds: float | None = None,
    sockets: WeakSet[socket.socket] | None = None,
    **options: Any,
) -> aiohttp.ClientSession:
    """A session without cookies, proxies and decompression; the caller limits the total time, and follows no redirects.

    Reads at most `taken_bytes` after each request. `sockets` gets those that it opens; `options` are the connector's.
    """

    def open_socket(entry: tuple[Any, ...]) -> socket.socket:
        made = _checked_socket(entry, scheme)
        if sockets is not None:
            sockets.add(made)
        return made

    return aiohttp.ClientSession(
        connector=_LimitedConnector(taken_bytes, socket_factory=open_socket, **options),
        trace_configs=[tracing],
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        skip_auto_headers=["Accept-Encoding"],
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds),
        headers=headers,
    )


async def read_start(response: aiohttp.ClientResponse, limit: int) -> bytes:
    """Does not read the rest: a slow server could hold the connection."""
    content = b""
    while len(content) < limit and (part := await response.content.read(limit - len(content))):
        content += part
    if not response.content.at_eof():
        response.close()
    return content


def _checked_socket(entry: tuple[Any, ...], scheme: str) -> socket.socket:
    """Checks the resolved address right before it is connected to."""
    if not may_connect(address_of(entry), scheme=scheme):
        # The webhook's owner reads this, so it must not reveal addresses of internal names.
        raise Blocked("The URL does not lead to a public Internet address.")
    family, kind, protocol, _, _ = entry
    return socket.socket(family, kind, protocol)


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

    def set_response_params(self, **given: Any) -> None:
        self._left = self._limit
        super().set_response_params(**given)

    def data_received(self, data: bytes) -> None:
        taken = data[: max(self._left, 0)]
        self._left -= len(data)
        super().data_received(taken)
        if self._left < 0 and self.transport is not None:
            self.transport.abort()


class _LimitedConnector(aiohttp.TCPConnector):
    """Its connections read at most `taken_bytes` after each request."""

    def __init__(self, taken_bytes: int, **options: Any) -> None:
        super().__init__(ssl=tls_context(), **options)
        self._factory = partial(_LimitedHandler, loop=self._loop, limit=taken_bytes)  # type: ignore[assignment]
