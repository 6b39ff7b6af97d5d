"""How many threads may wait for clients that read slowly: an answer of several pieces holds its thread up to the last.

The web server takes one piece at once, keeps it in memory, and waits for the client with the next. So an answer of up
to 2 MB is one piece, which holds no thread. Larger ones are sent by a share of the threads (slow_clients). A proxy
that reads responses whole keeps slow readers away altogether.

Exports are made while they are sent; the lane of files limits them.
"""

import logging
from collections.abc import Callable, Iterator
from typing import cast

from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from fulfillment.core.lanes import RETRY_SECONDS
from fulfillment.core.observability.instruments import count_refusal
from fulfillment.core.slow_clients import ThreadShare

logger = logging.getLogger(__name__)

AGAIN = f"Try again in {RETRY_SECONDS} seconds."
PIECE = 2 * 1024 * 1024
_threads = ThreadShare()


def in_large_pieces(
    response: HttpResponseBase, address: str, refuse: Callable[[str], HttpResponse]
) -> HttpResponseBase:
    """The response, or in place of a large answer for which no thread is free what `refuse` makes of the reason."""
    if isinstance(response, HttpResponse) and len(response.content) > PIECE:
        response = _streamed(response)
    elif not isinstance(response, FileResponse):
        return response
    pieces = _large_pieces(cast("Iterator[bytes]", response.streaming_content))
    try:
        first, second = next(pieces, b""), next(pieces, None)
    # Of a disk or a bucket. The middleware is behind: the web server would answer.
    except Exception as error:
        logger.error("A file could not be read", exc_info=error)
        return _passed_on(response, refuse(f"The file cannot be read right now. {AGAIN}"))
    if second is None:
        response.streaming_content = [first] if first else []
        return response
    if not _threads.enter(address):
        return _refusal(response, refuse)
    response.streaming_content = _Sent([first, second], pieces, address)
    return response


def _streamed(response: HttpResponse) -> StreamingHttpResponse:
    content, headers = response.content, dict(response.headers)
    pieces = (content[start : start + PIECE] for start in range(0, len(content), PIECE))
    streamed = StreamingHttpResponse(
        pieces, status=response.status_code, reason=response.reason_phrase, headers=headers
    )
    streamed.cookies = response.cookies
    _pass_closers(response, streamed)
    return streamed


def _large_pieces(pieces: Iterator[bytes]) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _refusal(response: StreamingHttpResponse, refuse: Callable[[str], HttpResponse]) -> HttpResponse:
    count_refusal("slow readers")
    return _passed_on(response, refuse(f"As many large answers are being sent as are sent at once. {AGAIN}"))


def _passed_on(response: StreamingHttpResponse, refusal: HttpResponse) -> HttpResponse:
    _pass_closers(response, refusal)
    return refusal


def _pass_closers(response: HttpResponseBase, successor: HttpResponseBase) -> None:
    """They close the file and end the request."""
    successor._resource_closers = [  # type: ignore[attr-defined]  # noqa: SLF001
        *successor._resource_closers,  # type: ignore[attr-defined]  # noqa: SLF001
        *response._resource_closers,  # type: ignore[attr-defined]  # noqa: SLF001
    ]


class _Sent:
    """The web server closes it when the response ends, also after an error."""

    def __init__(self, read: list[bytes], rest: Iterator[bytes], address: str) -> None:
        self._read, self._rest, self._address = read, rest, address
        self._is_open = True

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return self._read.pop(0) if self._read else next(self._rest)

    def close(self) -> None:
        if self._is_open:
            self._is_open = False
            _threads.leave(self._address)

    __del__ = close
