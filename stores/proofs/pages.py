"""Proofs and assets at their signed addresses, without a session, and the live proof of the start page."""

import base64
import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from fulfillment.core.api.responses import is_unchanged
from fulfillment.core.code_examples import Example, post_examples
from fulfillment.core.errors import DomainError, NotFound
from fulfillment.core.files.downloads import serves_picture
from fulfillment.core.files.storage import storage_errors
from fulfillment.core.recorded_texts import translated
from stores.proofs.links import LinkedFile, find_linked_file, read_link
from stores.proofs.selectors import Showcase, showcase
from stores.proofs.services.live_proofs import (
    MAX_NAME_LENGTH,
    USUAL_NAME,
    draw_live_proof,
    make_live_values,
    tag_of,
)
from stores.proofs.services.proofs import draw_wide_page

BLOCK = 262_144
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")
# Viewers of PDF do not work in a sandbox; scripts in a PDF cannot leave it anyway.
POLICIES = {
    "application/pdf": "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; frame-ancestors 'self'",
}
POLICY = "default-src 'none'; sandbox; frame-ancestors 'self'"
# The picture of a name changes only with the product, and so does its ETag.
CACHED = "private, max-age=60"


class RangeNotSatisfiable(Exception):
    pass


@require_safe
def serve_file(request: HttpRequest, kind: str, token: str, name: str) -> HttpResponseBase:
    try:
        identity, seconds = read_link(kind, token, name)
        linked = find_linked_file(kind, identity, name, request.GET.get("width"))
        headers = _make_headers(linked, name, seconds)
        if is_unchanged(request, headers["ETag"]):
            return HttpResponse(status=HTTPStatus.NOT_MODIFIED, headers=headers)
        # A bucket is read only when the response is made.
        with storage_errors():
            file = _open_file(linked, identity, request.META.get("REMOTE_ADDR", ""))
            try:
                return _file_response(request, linked, file, headers)
            except BaseException:
                file.close()
                raise
    except FileNotFoundError:
        return _refuse_request(404, _("The file is no longer kept. Create the proof again."))
    except DomainError as error:
        refusal = _refuse_request(error.status, translated(error.message))
        if retry_after := getattr(error, "retry_after", None):
            refusal["Retry-After"] = str(retry_after)
        return refusal


def _open_file(linked: LinkedFile, identity: bytes, address: str) -> File:
    """A page in a width of its own is drawn at its first request."""
    try:
        return default_storage.open(linked.file_name)
    except FileNotFoundError:
        if not linked.width:
            raise
        draw_wide_page(digest=identity.hex(), page=linked.page, width=linked.width, address=address)
        return default_storage.open(linked.file_name)


def _make_headers(linked: LinkedFile, name: str, seconds: int) -> dict[str, str]:
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


def _file_response(
    request: HttpRequest, linked: LinkedFile, file: File, headers: dict[str, str]
) -> HttpResponseBase:
    size = file.size
    try:
        byte_range = _requested_range(request, headers["ETag"], size)
    except RangeNotSatisfiable:
        file.close()
        refusal = _refuse_request(416, _("The file has %(size)s bytes.") % {"size": size})
        refusal["Content-Range"] = f"bytes */{size}"
        return refusal
    start, end = byte_range or (0, size)
    headers["Content-Length"] = str(end - start)
    if byte_range:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    status = HTTPStatus.PARTIAL_CONTENT if byte_range else HTTPStatus.OK
    if request.method == "HEAD":
        file.close()
        return HttpResponse(status=status, content_type=linked.media_type, headers=headers)
    span = _Span(file, start, end)
    return FileResponse(span, status=status, content_type=linked.media_type, headers=headers)


def _requested_range(request: HttpRequest, etag: str, size: int) -> tuple[int, int] | None:
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


def _refuse_request(status: int, text: str) -> HttpResponse:
    headers = {
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": POLICY,
    }
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain; charset=utf-8", headers=headers)


def live_proof(request: HttpRequest) -> dict[str, Any] | None:
    """The context for the start page; None without a demo store with a card."""
    card = showcase()
    if card is None:
        return None
    typed = request.GET.get("name", "")[:MAX_NAME_LENGTH]
    name = typed.strip() or USUAL_NAME
    values = make_live_values(card=card, name=name)
    return {
        "card": card,
        "name": name,
        "typed": typed,
        "longest": MAX_NAME_LENGTH,
        "examples": _list_examples(card, values),
        "height": round(420 * card.height_mm / card.width_mm),
    }


@serves_picture
@require_safe
def show_picture(request: HttpRequest) -> HttpResponse:
    """The picture for an <img>."""
    try:
        _, _, picture = _draw_proof(request)
    except DomainError as error:
        return _error_response(error)
    headers = {"ETag": f'"{tag_of(picture)}"', "Cache-Control": CACHED}
    if is_unchanged(request, headers["ETag"]):
        return HttpResponse(status=304, headers=headers)
    return HttpResponse(picture, content_type="image/png", headers=headers)


@require_safe
def show_live_proof(request: HttpRequest) -> HttpResponse:
    """Picture and code in one response, so that both belong to the same name."""
    try:
        card, values, picture = _draw_proof(request)
    except DomainError as error:
        return _error_response(error)
    content = {
        "Picture": "data:image/png;base64," + base64.b64encode(picture).decode(),
        "Code": {example.language: example.text for example in _list_examples(card, values)},
    }
    return JsonResponse(content, headers={"Cache-Control": CACHED})


def _draw_proof(request: HttpRequest) -> tuple[Showcase, dict[str, str], bytes]:
    card = showcase()
    if card is None:
        raise NotFound(_("There is no demo store for a proof."))
    values = make_live_values(card=card, name=request.GET.get("name", "").strip())
    address = request.META.get("REMOTE_ADDR", "")
    return card, values, draw_live_proof(card=card, values=values, address=address)


def _list_examples(card: Showcase, values: dict[str, str]) -> list[Example]:
    url = f"{settings.PUBLIC_URL}{settings.API_ROOT}/store/{card.store_id}/product/{card.product.external_id}/proof"
    return post_examples(url, values, result="proof", shown="PageURLs")


def _error_response(error: DomainError) -> JsonResponse:
    headers = {"Cache-Control": "no-store"}
    if retry_after := getattr(error, "retry_after", None):
        headers["Retry-After"] = str(retry_after)
    return JsonResponse({"Message": translated(error.message)}, status=error.status, headers=headers)
