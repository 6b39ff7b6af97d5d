"""Requests sent when they are due, whether earlier ones were answered or not (an open loop).

wrk waits for an answer before it sends the next request, so a stall of the server delays the requests that would
have met it and hides them (coordinated omission). Here the time counts from when a request was due.
"""

import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

CONNECTIONS = 64


@dataclass
class Outcome:
    """Milliseconds from when each request was due until its last byte; statuses that were not 2xx or 3xx."""

    times: list[float] = field(default_factory=list)
    refused: int = 0
    broken: int = 0

    def percentile(self, share: float) -> float:
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("inf")


class _Connection:
    def __init__(self, address: tuple[str, int], selector: selectors.BaseSelector) -> None:
        self.socket = socket.create_connection(address, timeout=5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.received, self.due = bytearray(), 0.0
        selector.register(self.socket, selectors.EVENT_READ, self)

    def send(self, request: bytes, due: float) -> None:
        self.received.clear()
        self.due = due
        self.socket.send(request)

    def status(self) -> int | None:
        """Of a whole answer; None while something is missing."""
        self.received += self.socket.recv(1 << 18) or _raise_closed()
        head, separator, body = bytes(self.received).partition(b"\r\n\r\n")
        if not separator:
            return None
        code, lines = int(head[9:12]), head.lower().split(b"\r\n")
        lengths = [int(line[15:]) for line in lines if line.startswith(b"content-length:")]
        return code if len(body) >= sum(lengths) else None


def put_steady_load(
    url: str,
    headers: Mapping[str, str],
    *,
    rate: float,
    seconds: float,
    targets: Callable[[int], tuple[str, int]] | None = None,
) -> Outcome:
    """`rate` requests a second, evenly spread; `targets` says where the n-th connection goes (default: the URL)."""
    parts = urlsplit(url)
    home = (parts.hostname or "", parts.port or 80)
    lines = [f"GET {parts.path}{'?' if parts.query else ''}{parts.query} HTTP/1.1", f"Host: {parts.netloc}"]
    request = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()
    selector, outcome = selectors.DefaultSelector(), Outcome()
    free = deque(_Connection((targets or (lambda _: home))(n), selector) for n in range(CONNECTIONS))
    started, sent, waiting = time.perf_counter(), 0, 0
    total = int(rate * seconds)
    while len(outcome.times) + outcome.refused + outcome.broken < total:
        now = time.perf_counter()
        if now > started + seconds + 20:
            outcome.broken = total - len(outcome.times) - outcome.refused
            break
        while sent < total and free and started + sent / rate <= now:
            free.popleft().send(request, started + sent / rate)
            sent += 1
        waiting = started + sent / rate - time.perf_counter() if sent < total and free else 0.05
        for key, _ in selector.select(max(0.0, waiting)):
            connection = key.data
            if (status := connection.status()) is None:
                continue
            if status < 400:
                outcome.times.append((time.perf_counter() - connection.due) * 1000)
            else:
                outcome.refused += 1
            free.append(connection)
    for key in list(selector.get_map().values()):
        key.data.socket.close()
    return outcome


def _raise_closed() -> bytes:
    raise ConnectionResetError("the server closed a connection")
