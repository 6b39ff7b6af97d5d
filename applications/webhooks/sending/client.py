"""Sends webhooks: POST to an address that is checked when its socket is opened, within 15 seconds in all."""

import asyncio
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from weakref import WeakSet

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from django.conf import settings

from applications.webhooks.selectors.signatures import USER_AGENT
from applications.webhooks.services.delivery_attempts import EndpointResponse
from fulfillment.core.http.outgoing.sessions import (
    Blocked,
    RequestProgress,
    Response,
    checked_session,
    exchange,
)
from fulfillment.core.http.outgoing.url_policy import parse

TIME_LIMIT = 15.0
STORED_BYTES = 2048
# Read after each request: the response with its headers, and 1xx responses before it.
TAKEN_BYTES = 64 * 1024


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
        entries = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
        return [
            ResolveResult(
                hostname=host, host=str(address[0]), port=port, family=kind, proto=proto, flags=flags
            )
            for kind, _, proto, _, address in entries
        ]

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class EndpointClient:
    """Sends requests in one event loop. Ignores redirects, proxies and cookies."""

    def __init__(self, *, resolver: AbstractResolver | None = None, time_limit: float = TIME_LIMIT) -> None:
        self._time_limit = time_limit
        # A weak set: closed connections leave it.
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._resolver = resolver or NameResolver()
        self._sessions = {
            scheme: checked_session(
                scheme,
                taken_bytes=TAKEN_BYTES,
                headers={"User-Agent": USER_AGENT, "Content-Type": "application/json", "Accept": "*/*"},
                sockets=self._sockets,
                # A second safeguard: the sender limits connections as well.
                limit=settings.WEBHOOK_CONNECTIONS,
                keepalive_timeout=30,
                resolver=self._resolver,
            )
            for scheme in ("https", "http")
        }

    async def post(self, url: str, body: bytes, headers: dict[str, str]) -> EndpointResponse:
        """Never raises for failures of the endpoint; the limit covers DNS, connecting, TLS and all bytes."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._time_limit):
                status, head, content = await self._post(url, body, headers)
        except TimeoutError:
            return EndpointResponse(
                _milliseconds_since(started),
                error=f"No complete response within {self._time_limit:g} seconds.",
            )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return EndpointResponse(_milliseconds_since(started), error=_describe_error(error)[:300])
        redirect = (
            f"The endpoint responded with {status}. Redirects are not followed."
            if 300 <= status < 400
            else ""
        )
        return EndpointResponse(
            _milliseconds_since(started), status, _decode_text(content), redirect, head.get("Retry-After")
        )

    @property
    def open_connections(self) -> int:
        return len(self._sockets)

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.close()
        await self._resolver.close()

    async def _post(self, url: str, body: bytes, headers: dict[str, str]) -> Response:
        parsed, progress = parse(url), RequestProgress()
        if self.open_connections >= settings.WEBHOOK_CONNECTIONS:
            # Idle connections to very many hosts would use up file descriptors.
            headers = {**headers, "Connection": "close"}
        session = self._sessions[parsed.scheme]
        send = partial(exchange, session, "POST", parsed, body, headers, limit=STORED_BYTES)
        try:
            return await send(progress=progress)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            if not progress.is_reused:
                raise
            # The endpoint closed an idle connection at the moment of use; retried on a new one.
            return await send(progress=RequestProgress())


def _describe_error(error: Exception) -> str:
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


def _decode_text(content: bytes) -> str:
    """Decodes text for PostgreSQL: without NUL, and within the limit even if it is not UTF-8."""
    text = content.decode("utf-8", "replace").replace("\x00", "")
    return text.encode()[:STORED_BYTES].decode("utf-8", "ignore")


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
