"""A receiver of webhooks on a loopback port: fast, and with configurable faults.

What it does is in the path: `/ok`, `/status/503?header=Retry-After: 7` (encoded), `/hang`, `/drip`, `/drip-head`,
`/flood`, `/close`. A subclass may decide in `answer` instead.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.support.patience import PATIENCE
from tests.support.servers.serving import serving

HANG_SECONDS = 60
ENDS = (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError)


@dataclass(frozen=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes
    moment: float

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)


@dataclass
class Receiver:
    """Collects all requests, also those it refuses; `connections` counts every TCP connection, `flooded`
    the pieces that `/flood` got rid of."""

    received: list[Received] = field(default_factory=list)
    connections: int = 0
    flooded: int = 0
    port: int = 0
    host: str = "127.0.0.1"

    def url(self, path: str = "/ok", **query: str) -> str:
        return f"http://{self.host}:{self.port}{path}" + (f"?{urlencode(query)}" if query else "")

    def wait_for(self, count: int, seconds: float = PATIENCE) -> list[Received]:
        deadline = time.monotonic() + seconds
        while len(self.received) < count:
            assert time.monotonic() < deadline, f"{len(self.received)} of {count} arrived"
            time.sleep(0.01)
        return list(self.received)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(*ENDS), contextlib.closing(writer):
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                first, *lines = head.decode("latin-1").split("\r\n")
                pairs = (line.split(": ", 1) for line in lines if line)
                headers = {name.lower(): value for name, value in pairs}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                path = first.split(" ")[1]
                self.received.append(Received(path, headers, body, time.time()))
                await self.answer(path, writer)
                await writer.drain()

    async def answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        parts = urlsplit(path)
        kind, _, value = parts.path.strip("/").partition("/")
        if kind == "status":
            extra = "".join(f"{header}\r\n" for header in parse_qs(parts.query).get("header", []))
            writer.write(f"HTTP/1.1 {value} Said\r\n{extra}Content-Length: 4\r\n\r\nsaid".encode())
        elif kind == "hang":
            await asyncio.sleep(HANG_SECONDS)
        elif kind in {"drip", "drip-head"}:
            await _drip(writer, in_head=kind == "drip-head")
        elif kind == "flood":
            await self._flood(writer)
        elif kind == "close":
            writer.close()
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    async def _flood(self, writer: asyncio.StreamWriter) -> None:
        """131 MB, if they are taken."""
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(2000):
            writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            await writer.drain()
            self.flooded += 1


async def _drip(writer: asyncio.StreamWriter, *, in_head: bool) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n" + (b"" if in_head else b"Content-Length: 100000\r\n\r\n"))
    for number in range(HANG_SECONDS * 10):
        writer.write(f"X-{number}: 1\r\n".encode() if in_head else b".")
        await writer.drain()
        await asyncio.sleep(0.1)


@contextlib.contextmanager
def receiving(receiver: Receiver | None = None, *, host: str = "127.0.0.1") -> Iterator[Receiver]:
    """Runs a receiver in a thread of its own."""
    receiver = receiver or Receiver()
    with serving(receiver.serve, host=host, backlog=1000) as receiver.port:
        receiver.host = host
        yield receiver
