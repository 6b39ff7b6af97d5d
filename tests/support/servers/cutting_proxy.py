"""A TCP proxy before PostgreSQL that cuts connections at random protocol messages."""

import asyncio
import contextlib
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.servers.serving import serving

CHUNK = 65536
# The first message of a client has no letter before its length.
STARTUP, USUAL = 0, 1


@dataclass
class CuttingProxy:
    """Cuts both sides of a connection before, within or after a message, `cuts` times; `farthest` is the most
    messages between two of them. Then it only passes on."""

    target: str
    cuts: int
    farthest: int
    chance: random.Random
    made: int = 0
    port: int = 0
    places: dict[str, int] = field(default_factory=dict)
    done: threading.Event = field(default_factory=threading.Event)
    _left: int = 1

    def url_of(self, url: str) -> str:
        """The address of the same database through here."""
        parts = urlsplit(url)
        return f"postgresql://{parts.username}@127.0.0.1:{self.port}{parts.path}?sslmode=disable&gssencmode=disable"

    def cut_next(self) -> None:
        """Cuts at the next message, from either side."""
        self._left, self.cuts = 1, self.made + 1

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inside, outside = await asyncio.open_unix_connection(self.target)
        transports = (writer.transport, outside.transport)
        ways = (
            self._pass_on(reader, outside, transports, STARTUP),
            self._pass_on(inside, writer, transports, USUAL),
        )
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await asyncio.gather(*ways)
        for transport in transports:
            transport.abort()

    async def _pass_on(
        self,
        source: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
        transports: tuple[asyncio.WriteTransport, ...],
        letter: int,
    ) -> None:
        buffer = b""
        while data := await source.read(CHUNK):
            buffer += data
            while whole := _first_message(buffer, letter):
                message, buffer, letter = buffer[:whole], buffer[whole:], USUAL
                if self._is_due(message[:1]):
                    await self._cut(message, sink, transports)
                    return
                sink.write(message)
            await sink.drain()
        for transport in transports:
            transport.close()

    def _is_due(self, letter: bytes) -> bool:
        if self.made >= self.cuts:
            return False
        self._left -= 1
        if self._left:
            return False
        self._left = self.chance.randint(1, self.farthest)
        self.made += 1
        self.places[letter.decode("latin-1")] = self.places.get(letter.decode("latin-1"), 0) + 1
        if self.made == self.cuts:
            self.done.set()
        return True

    async def _cut(
        self, message: bytes, sink: asyncio.StreamWriter, transports: tuple[asyncio.WriteTransport, ...]
    ) -> None:
        part = self.chance.choice((0, len(message) // 2, len(message)))
        with contextlib.suppress(OSError):
            sink.write(message[:part])
            await sink.drain()
        for transport in transports:
            transport.abort()


def _first_message(buffer: bytes, letter: int) -> int:
    """The bytes of the first message, 0 while it is not complete."""
    if len(buffer) < letter + 4:
        return 0
    whole = letter + int.from_bytes(buffer[letter : letter + 4])
    return whole if len(buffer) >= whole else 0


@contextlib.contextmanager
def cutting(url: str, *, cuts: int, farthest: int, seed: int) -> Iterator[CuttingProxy]:
    """Runs a proxy to the server of `url`, an address with a folder of sockets, in a thread of its own."""
    query = parse_qs(urlsplit(url).query)
    target = f"{unquote(query['host'][0])}/.s.PGSQL.{query.get('port', ['5432'])[0]}"
    proxy = CuttingProxy(target, cuts, farthest, random.Random(seed))
    with serving(proxy.serve, backlog=200) as proxy.port:
        yield proxy
