"""Waiting times at 70% of what one worker can do, on the service and on the limit.

Requests are sent when they are due, whether earlier ones were answered or not (an open loop). wrk waits for an answer
before it sends the next request, so a stall of the server delays the requests that would have met it and hides them
(coordinated omission). Here the time counts from when a request was due.
"""

import selectors
import socket
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.benchmarks.databases import Database
from tests.benchmarks.load import Sent, put_load
from tests.benchmarks.ratios import limit_environment
from tests.benchmarks.servers import Server, running

PATH = "/api/v1/store/bench"
LOADED, WARM_UP_SECONDS = 0.7, 5
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


def measure_tail(database: Database, seconds: float) -> tuple[float, Outcome, Outcome]:
    """That rate, the outcome, and that of the limit at this rate: what the machine itself makes requests wait."""
    headers, environment = database.headers, limit_environment(database)
    with running("ours", environment=environment) as ours, running("limit", environment=environment) as limit:
        rate = LOADED * put_load(ours.url, Sent(PATH, headers), seconds=3, connections=8).rate
        # Afterwards every thread has its connection to the database, and that its prepared statements.
        for server in (ours, limit):
            put_steady_load(server, headers, rate=rate, seconds=WARM_UP_SECONDS)
        outcome, least = (
            put_steady_load(server, headers, rate=rate, seconds=seconds) for server in (ours, limit)
        )
        return rate, outcome, least


def put_steady_load(server: Server, headers: Mapping[str, str], *, rate: float, seconds: float) -> Outcome:
    """`rate` requests a second."""
    lines = [
        f"GET {PATH} HTTP/1.1",
        "Host: 127.0.0.1",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    sender = _Sender("\r\n".join([*lines, "", ""]).encode(), server.port)
    sender.run(rate, int(rate * seconds))
    return sender.outcome


class _Connection:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=5)
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
    def __init__(self, request: bytes, port: int) -> None:
        self.request, self.outcome = request, Outcome()
        self.selector = selectors.DefaultSelector()
        self.free = deque(_Connection(port) for _ in range(CONNECTIONS))
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
