"""Responses with files: PDFs, pictures of pages, and zip archives that are sent while they are written."""

import zipfile
from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpResponse

from fulfillment.core.errors import DomainError

View = TypeVar("View", bound=Callable[..., Any])
WEEK = 604_800


def pdf_response(content: bytes, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type="application/pdf")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "private, no-cache"
    return response


def serves_picture(view: View) -> View:
    """Marks a view whose pictures count apart from pages: a list shows dozens of them."""
    view.serves_picture = True  # type: ignore[attr-defined]
    return view


def picture_response(draw: Callable[[], bytes], content_type: str = "image/png") -> HttpResponse:
    """A picture whose address names its version. An `img` shows no words: a refusal is its status alone."""
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

    def add(self, name: str, content: bytes | str) -> bytes:
        """Adds a file, and returns the next bytes to send."""
        self._archive.writestr(name, content)
        return self._take()

    def finish(self) -> bytes:
        """Returns the end of the archive, its directory."""
        self._archive.close()
        return self._take()

    def write(self, piece: bytes, /) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    close = flush

    def _take(self) -> bytes:
        content = b"".join(self._pieces)
        self._pieces.clear()
        return content
