"""Requests sent when they are due, whether earlier ones were answered or not (an open loop).

wrk waits for an answer before it sends the next request, so a stall of the server delays the requests that would
have met it and hides them (coordinated omission). Here the time counts from when a request was due.
"""

import contextlib
import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

CONNECTIONS = 64
PATIENCE = 20
TRIES = 50

Address = tuple[str, int]


@dataclass
class Outcome:
    """Milliseconds from when each request was due until its last byte, and the seconds at which that came; answers
    that were not 2xx or 3xx, by status; requests that came to nothing; those that were sent again to another target."""

    times: list[float] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    refusals: Counter[int] = field(default_factory=Counter)
    broken: int = 0
    repeated: int = 0

    @property
    def refused(self) -> int:
        return self.refusals.total()

    @property
    def done(self) -> int:
        return len(self.times) + self.refused

    def percentile(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("inf")


def put_steady_load(
    url: str, headers: Mapping[str, str], *, rate: float, seconds: float, targets: Sequence[Address] = ()
) -> Outcome:
    """`rate` requests a second, evenly spread over the targets (default: the URL) as a load balancer spreads them:
    what a target dies of is sent again to another one, which a GET allows.
    """
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}"]
    request = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""])
    balancer = _Balancer(request.encode(), targets or [(parts.hostname or "", parts.port or 80)])
    balancer.run(rate, int(rate * seconds))
    return balancer.outcome


class _Connection:
    def __init__(self, address: Address) -> None:
        self.address = address
        self.socket = socket.create_connection(address, timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.received, self.due, self.is_busy = bytearray(), 0.0, False

    def status(self) -> int | None:
        """Of a whole answer; None while something is missing."""
        content = self.socket.recv(1 << 18)
        if not content:
            raise ConnectionResetError("the server closed a connection")
        self.received += content
        head, separator, body = bytes(self.received).partition(b"\r\n\r\n")
        lengths = [
            int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
        ]
        return int(head[9:12]) if separator and len(body) >= sum(lengths) else None


class _Balancer:
    def __init__(self, request: bytes, targets: Sequence[Address]) -> None:
        self.request, self.alive, self.outcome = request, list(targets), Outcome()
        self.selector = selectors.DefaultSelector()
        self.free = deque(self._connect(targets[n % len(targets)]) for n in range(CONNECTIONS))

    def run(self, rate: float, total: int) -> None:
        self.started, sent = time.perf_counter(), 0
        deadline = self.started + total / rate + PATIENCE
        while self.outcome.done < total and time.perf_counter() < deadline:
            while sent < total and self.free and self.started + sent / rate <= time.perf_counter():
                self._send(self.free.popleft(), self.started + sent / rate)
                sent += 1
            due = self.started + sent / rate - time.perf_counter() if sent < total and self.free else 0.05
            for key, _ in self.selector.select(max(0.0, due)):
                self._receive(key.data)
        self.outcome.broken = total - self.outcome.done
        for key in list(self.selector.get_map().values()):
            key.data.socket.close()

    def _connect(self, address: Address) -> _Connection:
        """The kernel may still give a connection to a worker that has just ended, and reset it."""
        for _ in range(TRIES):
            with contextlib.suppress(ConnectionError):
                connection = _Connection(address)
                break
            self.outcome.repeated += 1
        else:
            connection = _Connection(address)
        self.selector.register(connection.socket, selectors.EVENT_READ, connection)
        return connection

    def _send(self, connection: _Connection, due: float) -> None:
        connection.received.clear()
        connection.due, connection.is_busy = due, True
        try:
            connection.socket.send(self.request)
        except OSError:
            self._replace(connection)

    def _receive(self, connection: _Connection) -> None:
        try:
            status = connection.status()
        except OSError:
            self._replace(connection)
            return
        if status is None:
            return
        connection.is_busy = False
        if status < 400:
            now = time.perf_counter()
            self.outcome.moments.append(now - self.started)
            self.outcome.times.append((now - connection.due) * 1000)
        else:
            self.outcome.refusals[status] += 1
        self.free.append(connection)

    def _replace(self, connection: _Connection) -> None:
        """A target that breaks a connection is taken out; what was under way goes to another one."""
        self.selector.unregister(connection.socket)
        connection.socket.close()
        if connection.address in self.alive:
            self.alive.remove(connection.address)
        other = self._connect(self.alive[0])
        if connection.is_busy:
            self.outcome.repeated += 1
            self._send(other, connection.due)
        else:
            self.free.remove(connection)
            self.free.append(other)
