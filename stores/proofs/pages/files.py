"""Serves proofs and assets at their signed addresses: no session, no database."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from fulfillment.core.api.responses import is_unchanged
from fulfillment.core.files.storage import StorageUnavailable, storage_errors
from stores.proofs.links import LinkExpired, LinkInvalid, read_link
from stores.proofs.signed_urls import LinkedFile, linked_file

BLOCK = 262_144
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")
# Viewers of PDF do not work in a sandbox; scripts in a PDF cannot leave it anyway.
POLICIES = {
    "application/pdf": "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'self'",
}
POLICY = "default-src 'none'; sandbox; frame-ancestors 'self'"


@contextmanager
def closed_on_failure(file: File) -> Iterator[None]:
    try:
        yield
    except BaseException:
        file.close()
        raise


class RangeNotSatisfiable(Exception):
    pass


@require_safe
def serve_file(request: HttpRequest, kind: str, token: str, name: str) -> HttpResponseBase:
    try:
        identity, seconds = read_link(kind, token, name)
        linked = linked_file(kind, identity, name)
        headers = _headers(linked, name, seconds)
        if is_unchanged(request, headers["ETag"]):
            return HttpResponse(status=HTTPStatus.NOT_MODIFIED, headers=headers)
        # A bucket is read only when the response is made.
        with storage_errors():
            file = default_storage.open(linked.file_name)
            with closed_on_failure(file):
                return _answer(request, linked, file, headers)
    except LinkInvalid:
        return _refusal(
            403,
            "This link is not valid: it is incomplete or was changed. Create the proof again for a new one.",
        )
    except LinkExpired:
        return _refusal(410, "This link has expired. Create the proof again for a new one.")
    except FileNotFoundError:
        return _refusal(404, "The file is no longer kept. Create the proof again.")
    except StorageUnavailable as error:
        refusal = _refusal(503, error.message)
        refusal["Retry-After"] = str(error.retry_after)
        return refusal


def _headers(linked: LinkedFile, name: str, seconds: int) -> dict[str, str]:
    return {
        "ETag": f'"{linked.tag}"',
        "Cache-Control": f"private, max-age={seconds}, immutable",
        "Accept-Ranges": "bytes",
        "Content-Disposition": f'inline; filename="{name}"',
        "Content-Security-Policy": POLICIES.get(linked.media_type, POLICY),
        "Cross-Origin-Resource-Policy": "cross-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
    }


def _answer(
    request: HttpRequest, linked: LinkedFile, file: File, headers: dict[str, str]
) -> HttpResponseBase:
    size = file.size
    try:
        wanted = _wanted(request, headers["ETag"], size)
    except RangeNotSatisfiable:
        file.close()
        refusal = _refusal(416, f"The file has {size} bytes.")
        refusal["Content-Range"] = f"bytes */{size}"
        return refusal
    start, end = wanted or (0, size)
    headers["Content-Length"] = str(end - start)
    if wanted:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    status = HTTPStatus.PARTIAL_CONTENT if wanted else HTTPStatus.OK
    if request.method == "HEAD":
        file.close()
        return HttpResponse(status=status, content_type=linked.media_type, headers=headers)
    span = _Span(file, start, end)
    return FileResponse(span, status=status, content_type=linked.media_type, headers=headers)


def _wanted(request: HttpRequest, etag: str, size: int) -> tuple[int, int] | None:
    """Start and end of one range; all else in a Range header is ignored, as RFC 9110 14.2 allows."""
    match = _RANGE.match(request.headers.get("Range", "").strip())
    if match is None or request.method != "GET" or request.headers.get("If-Range", etag) != etag:
        return None
    first, last = match.groups()
    if not first and not last:
        return None
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size or start >= end:
        raise RangeNotSatisfiable
    return start, end


class _Span:
    """A range of an open file, read in blocks; closed with the response, even an unread one."""

    def __init__(self, file: File, start: int, end: int) -> None:
        file.seek(start)
        self.file, self.left = file, end - start

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        block: bytes = self.file.read(min(BLOCK, self.left))
        self.left -= len(block)
        if not block:
            raise StopIteration
        return block

    def close(self) -> None:
        self.file.close()


def _refusal(status: int, text: str) -> HttpResponse:
    headers = {
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": POLICY,
    }
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain; charset=utf-8", headers=headers)
