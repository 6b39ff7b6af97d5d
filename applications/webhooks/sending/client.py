"""Sends webhooks: POST to an address that is checked when its socket is opened, within 15 seconds in all."""

import asyncio
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import ip_address
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from django.conf import settings

from applications.webhooks.selectors.signatures import USER_AGENT
from applications.webhooks.sending.url_policy import may_connect, parse

TIME_LIMIT = 15.0
STORED_BYTES = 2048
# Read after each request: the response with its headers, and 1xx responses before it.
TAKEN_BYTES = 64 * 1024


class Blocked(OSError):
    """The address is not one we send to."""


@dataclass(frozen=True, slots=True)
class EndpointResponse:
    """The response's status and start of its body, or the `error` that prevented it."""

    milliseconds: int
    status: int | None = None
    body: str = ""
    error: str = ""
    retry_after: str | None = None

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300 and not self.error


@dataclass(slots=True)
class _Connection:
    """The connection of a request."""

    is_reused: bool = False


class NameResolver(AbstractResolver):
    """Looks names up in threads of its own, one for each connection: an unresponsive name server keeps them for longer
    than a request may take, and would hold up the worker's jobs in those of the event loop.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(settings.WEBHOOK_CONNECTIONS, thread_name_prefix="names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        look_up = partial(
            socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
        found = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [
            ResolveResult(
                hostname=host, host=str(address[0]), port=port, family=kind, proto=proto, flags=flags
            )
            for kind, _, proto, _, address in found
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class Client:
    """For use in one event loop. Ignores redirects, proxies and cookies."""

    def __init__(self, *, resolver: AbstractResolver | None = None, time_limit: float = TIME_LIMIT) -> None:
        self._time_limit = time_limit
        # A weak set: closed connections leave it.
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._resolver = resolver or NameResolver()
        self._sessions = {scheme: self._session(scheme, self._resolver) for scheme in ("https", "http")}

    async def post(self, url: str, body: bytes, headers: dict[str, str]) -> EndpointResponse:
        """Never raises for failures of the endpoint; the limit covers DNS, connecting, TLS and all bytes."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._time_limit):
                status, content, retry_after = await self._post(url, body, headers)
        except TimeoutError:
            return EndpointResponse(
                _since(started), error=f"No complete response within {self._time_limit:g} seconds."
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return EndpointResponse(_since(started), error=_reason(error)[:300])
        redirect = (
            f"The endpoint responded with {status}. Redirects are not followed."
            if 300 <= status < 400
            else ""
        )
        return EndpointResponse(_since(started), status, _text(content), redirect, retry_after)

    @property
    def open_connections(self) -> int:
        return len(self._sockets)

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        await self._resolver.close()

    def _session(self, scheme: str, resolver: AbstractResolver) -> aiohttp.ClientSession:
        connector = LimitedConnector(
            TAKEN_BYTES,
            # A second safeguard: the sender limits connections as well.
            limit=settings.WEBHOOK_CONNECTIONS,
            keepalive_timeout=30,
            resolver=resolver,
            socket_factory=lambda info: self._socket(info, scheme),
        )
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_reuseconn.append(_note_reuse)
        headers = {"User-Agent": USER_AGENT, "Content-Type": "application/json", "Accept": "*/*"}
        return bare_session(connector, tracing, headers)

    def _socket(self, info: tuple[Any, ...], scheme: str) -> socket.socket:
        made = guarded_socket(info, scheme)
        self._sockets.add(made)
        return made

    async def _post(self, url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes, str | None]:
        parsed = parse(url)
        session = self._sessions[parsed.scheme]
        connection = _Connection()
        if self.open_connections >= settings.WEBHOOK_CONNECTIONS:
            # Idle connections to very many hosts would use up file descriptors.
            headers = {**headers, "Connection": "close"}
        try:
            return await _exchange(session, parsed, body, headers, connection)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not connection.is_reused:
                raise
            # The endpoint closed an idle connection at the moment of use; retried on a new one.
            return await _exchange(session, parsed, body, headers, _Connection())


async def _note_reuse(
    session: aiohttp.ClientSession, context: SimpleNamespace, event: aiohttp.TraceConnectionReuseconnParams
) -> None:
    context.trace_request_ctx.is_reused = True


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


class LimitedConnector(aiohttp.TCPConnector):
    """Its connections read at most `taken_bytes` after each request."""

    def __init__(self, taken_bytes: int, **options: Any) -> None:
        super().__init__(ssl=tls_context(), **options)
        self._factory = partial(_LimitedHandler, loop=self._loop, limit=taken_bytes)  # type: ignore[assignment]


def bare_session(
    connector: aiohttp.TCPConnector,
    tracing: aiohttp.TraceConfig,
    headers: dict[str, str],
    *,
    connect_seconds: float | None = None,
) -> aiohttp.ClientSession:
    """A session without cookies, proxies and decompression; the caller limits the total time."""
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


def guarded_socket(info: tuple[Any, ...], scheme: str) -> socket.socket:
    """Checks the resolved address right before it is connected to."""
    family, kind, protocol, _, address = info
    found = ip_address(str(address[0]).partition("%")[0])
    if not may_connect(found, scheme=scheme):
        # The webhook's owner reads this, so it must not reveal addresses of internal names.
        raise Blocked("The URL does not lead to a public Internet address.")
    return socket.socket(family, kind, protocol)


async def _exchange(
    session: aiohttp.ClientSession, url: Any, body: bytes, headers: dict[str, str], connection: _Connection
) -> tuple[int, bytes, str | None]:
    async with session.post(
        url, data=body, headers=headers, allow_redirects=False, trace_request_ctx=connection
    ) as response:
        content = b""
        while len(content) < STORED_BYTES and (
            part := await response.content.read(STORED_BYTES - len(content))
        ):
            content += part
        if not response.content.at_eof():
            # The rest is not read: a slow endpoint could hold the connection.
            response.close()
        return response.status, content, response.headers.get("Retry-After")


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError | aiohttp.ClientError):
        return f"The URL is refused: {error}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "The host's name does not resolve."
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        cause = error.certificate_error
        return f"The TLS certificate was not accepted: {getattr(cause, 'verify_message', None) or cause}"
    if isinstance(error, aiohttp.ClientConnectorError):
        inner = error.os_error
        return str(inner) if isinstance(inner, Blocked) else f"No connection: {inner.strerror or inner}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "The connection was closed without a response."
    return f"No valid response: {error}" if str(error) else f"No valid response: {type(error).__name__}"


def _text(content: bytes) -> str:
    """Decodes text for PostgreSQL: without NUL, and within the limit even if it is not UTF-8."""
    text = content.decode("utf-8", "replace").replace("\x00", "")
    return text.encode()[:STORED_BYTES].decode("utf-8", "ignore")


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
