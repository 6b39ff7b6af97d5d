"""Limits answers that clients request and do not read.

The web server keeps an answer in memory until its client has taken it, holds no thread for it, and does not report the
end. The kernel does: while a part of an answer is still in memory, the send queue of its connection is full. HTTP/1.1
answers the requests of a connection one after the other, so each connection holds one answer. A trusted proxy reads
responses whole and is not limited.
"""

import os
import select
import socket
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from fulfillment.core.api.errors import problem
from fulfillment.core.client_addresses import bucket_of_address
from fulfillment.core.lanes import RETRY_SECONDS
from fulfillment.core.observability.instruments import count_refusal
from fulfillment.site.addresses import is_api
from fulfillment.site.proxies import is_trusted

# Connections with an unread answer; when a process has that many, an address with one of them gets no more.
OF_ADDRESS, OF_PROCESS = 32, 128
# Looking through the connections takes a millisecond, so it is done once in so many bytes.
LOOK_BYTES = 4 * 1024 * 1024
# A connection whose client has taken nothing for so long is closed, as by proxies.
STALLED_SECONDS = 60
# In struct tcp_info of Linux: tcpi_last_data_sent, in milliseconds.
LAST_SENT = struct.Struct("=44xI")
OPEN_FILES = Path("/proc/self/fd")


class UnreadAnswers:
    def __init__(self) -> None:
        # Threads may overwrite each other's values: that moves the next look only.
        self._bytes_since = 0
        self._full: frozenset[str] = frozenset()

    def is_full(self, client: str) -> bool:
        """Whether the client has to read before it gets anything else."""
        if client in self._full:
            self._look()
        return client in self._full

    def count(self, size: int) -> None:
        self._bytes_since += size
        if self._bytes_since >= LOOK_BYTES:
            self._look()

    def _look(self) -> None:
        self._bytes_since = 0
        self._full = _full(_unread_by_client())


_answers = UnreadAnswers()


def refuse_unread(request: HttpRequest) -> HttpResponse | None:
    """A refusal before any work, because work whose answer were kept back would be done twice."""
    peer = str(request.META.get("REMOTE_ADDR", ""))
    if is_trusted(peer, settings.TRUSTED_PROXIES) or not _answers.is_full(bucket_of_address(peer)):
        return None
    count_refusal("unread answers")
    text = f"Too many answers to your address have not been read. Read them, or try again in {RETRY_SECONDS} seconds."
    return busy_answer(request, 429, "too_many_at_once", text)


def busy_answer(request: HttpRequest, status: int, code: str, text: str) -> HttpResponse:
    """A refusal in the form of the API or of pages; `text` says when to try again."""
    headers = {"Cache-Control": "no-store", "Retry-After": str(RETRY_SECONDS)}
    if is_api(request.path_info):
        return problem(status, code, text, headers=headers)
    return HttpResponse(f"{text}\n", "text/plain; charset=utf-8", status, headers=headers)


def count_answer(response: HttpResponseBase) -> None:
    _answers.count(_size(response))


def _size(response: HttpResponseBase) -> int:
    if isinstance(response, HttpResponse):
        return len(response.content)
    # Exports are sent while they are made, with a thread each.
    return int(response.get("Content-Length") or 0) if isinstance(response, FileResponse) else 0


def _full(unread: Counter[str]) -> frozenset[str]:
    most = OF_ADDRESS if unread.total() < OF_PROCESS else 1
    return frozenset(client for client, count in unread.items() if count >= most)


def _unread_by_client() -> Counter[str]:
    """Counts connections to clients other than trusted proxies; ends those that have stalled."""
    found: Counter[str] = Counter()
    with suppress(OSError), _open_sockets() as opened:
        ports = {each.getsockname()[1] for each in opened if _is_listening(each)}
        for each in _full_queues([each for each in opened if each.getsockname()[1] in ports]):
            with suppress(OSError):
                peer = each.getpeername()[0]
                if is_trusted(peer, settings.TRUSTED_PROXIES):
                    continue
                found[bucket_of_address(peer)] += 1
                if _stalled_seconds(each) >= STALLED_SECONDS:
                    each.shutdown(socket.SHUT_RDWR)
    return found


def _full_queues(opened: list[socket.socket]) -> list[socket.socket]:
    """Those that nothing can be written to, listeners left out."""
    poll = select.poll()
    for each in opened:
        poll.register(each, select.POLLOUT)
    writable = {number for number, _ in poll.poll(0)}
    return [each for each in opened if each.fileno() not in writable and not _is_listening(each)]


@contextmanager
def _open_sockets() -> Iterator[list[socket.socket]]:
    """Duplicates of the Internet sockets of this process: closing them closes no connection."""
    opened: list[socket.socket] = []
    try:
        for number in OPEN_FILES.iterdir():
            with suppress(OSError):
                if str(number.readlink()).startswith("socket:"):
                    _open(int(number.name), opened)
        yield opened
    finally:
        for each in opened:
            each.close()


def _open(number: int, opened: list[socket.socket]) -> None:
    duplicate = os.dup(number)
    try:
        found = socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise
    if found.family in {socket.AF_INET, socket.AF_INET6} and found.type == socket.SOCK_STREAM:
        opened.append(found)
    else:
        found.close()


def _is_listening(opened: socket.socket) -> bool:
    return bool(opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def _stalled_seconds(opened: socket.socket) -> float:
    (since,) = LAST_SENT.unpack(opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LAST_SENT.size))
    return int(since) / 1000
