"""Requests sent when they are due, whether earlier ones were answered or not (an open loop).

wrk waits for an answer before it sends the next request, so a stall of the server delays the requests that would
have met it and hides them (coordinated omission). Here the time counts from when a request was due.
"""

import selectors
import socket
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

CONNECTIONS = 64
PATIENCE = 20


@dataclass
class Outcome:
    """Milliseconds from when each request was due until its last byte; answers that were not 2xx or 3xx; requests
    that came to nothing."""

    times: list[float] = field(default_factory=list)
    refused: int = 0
    broken: int = 0

    @property
    def done(self) -> int:
        return len(self.times) + self.refused

    def percentile(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("inf")


def put_steady_load(url: str, headers: Mapping[str, str], *, rate: float, seconds: float) -> Outcome:
    """`rate` requests a second."""
    parts = urlsplit(url)
    lines = [f"GET {parts.path} HTTP/1.1", f"Host: {parts.netloc}"]
    request = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""])
    sender = _Sender(request.encode(), (parts.hostname or "", parts.port or 80))
    sender.run(rate, int(rate * seconds))
    return sender.outcome


class _Connection:
    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.received, self.due = bytearray(), 0.0

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


class _Sender:
    def __init__(self, request: bytes, address: tuple[str, int]) -> None:
        self.request, self.outcome = request, Outcome()
        self.selector = selectors.DefaultSelector()
        self.free = deque(_Connection(address) for _ in range(CONNECTIONS))
        for connection in self.free:
            self.selector.register(connection.socket, selectors.EVENT_READ, connection)

    def run(self, rate: float, total: int) -> None:
        started, sent = time.perf_counter(), 0
        deadline = started + total / rate + PATIENCE
        while self.outcome.done < total and time.perf_counter() < deadline:
            while sent < total and self.free and started + sent / rate <= time.perf_counter():
                connection = self.free.popleft()
                connection.received.clear()
                connection.due = started + sent / rate
                connection.socket.send(self.request)
                sent += 1
            due = started + sent / rate - time.perf_counter() if sent < total and self.free else 0.05
            for key, _ in self.selector.select(max(0.0, due)):
                self._receive(key.data)
        self.outcome.broken = total - self.outcome.done
        for key in list(self.selector.get_map().values()):
            key.data.socket.close()

    def _receive(self, connection: _Connection) -> None:
        status = connection.status()
        if status is None:
            return
        if status < 400:
            self.outcome.times.append((time.perf_counter() - connection.due) * 1000)
        else:
            self.outcome.refused += 1
        self.free.append(connection)
