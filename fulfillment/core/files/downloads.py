"""Responses with files: PDFs, pictures of pages, and zip archives that are sent while they are written."""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from fulfillment.core.concurrency_limits import FILES, Held, LimitedStream
from fulfillment.core.errors import DomainError

View = TypeVar("View", bound=Callable[..., Any])
WEEK = 604_800
# A larger file holds a slot of FILES until it is sent, in blocks.
AT_ONCE_BYTES, BLOCK = 16_000_000, 262_144
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "xlsx": XLSX, "zip": "application/zip"}


def streamed_file(pieces: Iterator[bytes], name: str, caller: str) -> StreamingHttpResponse:
    """A file that counts until it is sent, and is kept by no browser. Its ending says what it is."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    media_type = MEDIA_TYPES[name.rpartition(".")[2]]
    return StreamingHttpResponse(FILES.stream(pieces, caller), content_type=media_type, headers=headers)


def pdf_response(content: bytes, name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "private, no-cache"}
    return HttpResponse(content, content_type="application/pdf", headers=headers)


@contextmanager
def limited_pdf(size: int, caller: str = "") -> Iterator[Callable[[bytes, str], HttpResponseBase]]:
    """Gives `pdf_response` for a file that is read in the block. A large one counts until it is sent, because it is in
    memory as long.
    """
    if size <= AT_ONCE_BYTES:
        yield pdf_response
        return
    with FILES.slot(caller) as held:
        yield partial(_streaming_response, held)


def _streaming_response(held: Held, content: bytes, name: str) -> HttpResponseBase:
    response = pdf_response(b"", name)
    headers = {**response.headers, "Content-Length": str(len(content))}
    return StreamingHttpResponse(LimitedStream(_split_blocks(content), held.whole.pop_all()), headers=headers)


def _split_blocks(content: bytes) -> Iterator[bytes]:
    return (content[start : start + BLOCK] for start in range(0, len(content), BLOCK))


def serves_picture(view: View) -> View:
    """Marks a view whose pictures count apart from pages: a list shows dozens of them."""
    view.serves_picture = True  # type: ignore[attr-defined]
    return view


def picture_response(draw: Callable[[], bytes], content_type: str = "image/png") -> HttpResponse:
    """A picture whose address names its version. A refusal has only a status, because an `img` shows no text."""
    try:
        picture = draw()
    except DomainError as error:
        return picture_refusal(error)
    headers = {"Cache-Control": f"private, max-age={WEEK}, immutable"}
    return HttpResponse(picture, content_type=content_type, headers=headers)


def picture_refusal(error: DomainError) -> HttpResponse:
    """`static/brand/retry-pictures.js` loads the picture again after Retry-After."""
    headers = {"Cache-Control": "no-store"}
    if retry_after := getattr(error, "retry_after", 0):
        headers["Retry-After"] = str(retry_after)
    return HttpResponse(status=error.status, headers=headers)


class ZipStream:
    """Collects what is written to the archive until it is sent. Files are stored uncompressed: PDF already is."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._archive = zipfile.ZipFile(self, "w", zipfile.ZIP_STORED)

    def add(self, name: str, content: bytes | str) -> Iterator[bytes]:
        """Adds a file, and yields the next bytes to send."""
        self._archive.writestr(name, content)
        return self._take_pieces()

    def finish(self) -> Iterator[bytes]:
        """Yields the end of the archive, its directory."""
        self._archive.close()
        return self._take_pieces()

    def write(self, piece: bytes, /) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    close = flush

    def _take_pieces(self) -> Iterator[bytes]:
        while self._pieces:
            yield from _split_blocks(self._pieces.pop(0))
