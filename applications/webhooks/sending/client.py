"""Sends webhooks: POST to an address that is checked when its socket is opened, within 15 seconds in all."""

import asyncio
import socket
import ssl
import time
from dataclasses import dataclass
from ipaddress import ip_address
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import aiohttp
from aiohttp.abc import AbstractResolver
from django.conf import settings

from applications.webhooks.sending.url_policy import may_connect, parse

TIME_LIMIT = 15.0
STORED_BYTES = 2048
USER_AGENT = "StoreFulfillment-Webhooks/1"


class Blocked(OSError):
    """The address is not one we send to."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status and the start of the body, or the `error` that stood in the way."""

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
    """What a request went over."""

    is_reused: bool = False


class Client:
    """Made and used inside one event loop. Follows no redirect, knows no proxy and keeps no cookie."""

    def __init__(self, *, resolver: AbstractResolver | None = None, time_limit: float = TIME_LIMIT) -> None:
        self._time_limit = time_limit
        # A connection that has closed is garbage, and gone from here.
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._sessions = {scheme: self._session(scheme, resolver) for scheme in ("https", "http")}

    async def post(self, url: str, body: bytes, headers: dict[str, str]) -> Answer:
        """Never raises for what the other side does; the limit covers names, connecting, TLS and every byte."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._time_limit):
                status, content, retry_after = await self._ask(url, body, headers)
        except TimeoutError:
            return Answer(_since(started), error=f"No complete answer within {self._time_limit:g} seconds.")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Answer(_since(started), error=_reason(error)[:300])
        redirect = f"Answered {status}; redirects are not followed." if 300 <= status < 400 else ""
        return Answer(_since(started), status, _text(content), redirect, retry_after)

    @property
    def open_connections(self) -> int:
        return len(self._sockets)

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()

    def _session(self, scheme: str, resolver: AbstractResolver | None) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            # The sender keeps to this; here it holds whatever happens there.
            limit=settings.WEBHOOK_CONNECTIONS,
            keepalive_timeout=30,
            resolver=resolver,
            ssl=ssl.create_default_context(),
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

    async def _ask(self, url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes, str | None]:
        parsed = parse(url)
        session = self._sessions[parsed.scheme]
        connection = _Connection()
        if self.open_connections >= settings.WEBHOOK_CONNECTIONS:
            # Kept ones to very many hosts would use up the files of the process.
            headers = {**headers, "Connection": "close"}
        try:
            return await _exchange(session, parsed, body, headers, connection)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not connection.is_reused:
                raise
            # The other side closed a kept connection just as we used it; a new one tells.
            return await _exchange(session, parsed, body, headers, _Connection())


async def _note_reuse(
    session: aiohttp.ClientSession, context: SimpleNamespace, event: aiohttp.TraceConnectionReuseconnParams
) -> None:
    context.trace_request_ctx.is_reused = True


def bare_session(
    connector: aiohttp.TCPConnector,
    tracing: aiohttp.TraceConfig,
    headers: dict[str, str],
    *,
    connect_seconds: float | None = None,
) -> aiohttp.ClientSession:
    """Without cookies, proxies of the environment and decompression; the caller limits the time in all."""
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
    """Called with the very address that is connected to next, however it was found."""
    family, kind, protocol, _, address = info
    found = ip_address(str(address[0]).partition("%")[0])
    if not may_connect(found, scheme=scheme):
        # The owner of the webhook reads this and must not learn the address of an internal name.
        raise Blocked("What the URL names is not an address of the public Internet.")
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
            # The rest is of no use, and reading it would keep the connection at their pleasure.
            response.close()
        return response.status, content, response.headers.get("Retry-After")


def _reason(error: Exception) -> str:
    if not isinstance(error, OSError | aiohttp.ClientError):
        return f"The URL is refused: {error}"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "The host's name does not resolve."
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"TLS: {error.certificate_error}"
    if isinstance(error, aiohttp.ClientConnectorError):
        inner = error.os_error
        return str(inner) if isinstance(inner, Blocked) else f"No connection: {inner.strerror or inner}"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "The connection was closed without an answer."
    return f"No valid answer: {error}" if str(error) else f"No valid answer: {type(error).__name__}"


def _text(content: bytes) -> str:
    """PostgreSQL takes no NUL, and what is not UTF-8 must not grow past the limit."""
    text = content.decode("utf-8", "replace").replace("\x00", "")
    return text.encode()[:STORED_BYTES].decode("utf-8", "ignore")


def _since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
