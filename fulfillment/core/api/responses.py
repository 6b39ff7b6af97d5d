"""Responses from stored bytes."""

import gzip
import hashlib
import re

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags

JSON = "application/json"
# Accept headers that request the default.
DEFAULT_ACCEPTS = frozenset({"", "*/*", JSON})
WORTH_COMPRESSING = 1024
# gzip named without a quality of zero.
ACCEPTS_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)


def weak_etag(*parts: object) -> str:
    return 'W/"' + hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=12).hexdigest() + '"'


def is_unchanged(request: HttpRequest, etag: str) -> bool:
    """Whether the client's If-None-Match names this version (compared weakly, as RFC 9110 13.1.2 says)."""
    header = request.META.get("HTTP_IF_NONE_MATCH")
    if not header:
        return False
    opaque_tag = etag.removeprefix("W/")
    return any(tag == "*" or tag.removeprefix("W/") == opaque_tag for tag in parse_etags(header))


def matching_tags(request: HttpRequest) -> list[str]:
    """The ETags of If-Match; empty without the header."""
    header = request.headers.get("If-Match")
    # A header without a readable tag matches nothing.
    return [] if header is None else parse_etags(header) or [header]


def not_modified(etag: str) -> HttpResponse:
    return HttpResponseNotModified(
        headers={"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding"}
    )


def json_bytes(request: HttpRequest, body: bytes, *, etag: str | None = None) -> HttpResponse:
    """A finished JSON body, compressed where the client takes gzip."""
    headers = {
        "Vary": "Accept-Encoding",
        "Cache-Control": "private, no-cache" if etag else "no-store",
    }
    if etag:
        headers["ETag"] = etag
    if len(body) >= WORTH_COMPRESSING and ACCEPTS_GZIP.search(request.META.get("HTTP_ACCEPT_ENCODING", "")):
        body = gzip.compress(body, compresslevel=1, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return HttpResponse(body, content_type=JSON, headers=headers)


def concurrency_errors(what: str) -> dict[int, str]:
    """Error descriptions for the API schema of operations with a concurrency limit."""
    again = "try again after Retry-After seconds."
    return {
        429: "The subscription has had its requests of this minute, or the caller has as many "
        f"{what} under way as one may have (`too_many_at_once`); {again}",
        503: "The database or the file storage is away, or there are as many "
        f"{what} under way as are taken at once (`service_busy`); {again}",
    }
