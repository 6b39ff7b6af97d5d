"""Responses from stored bytes and conditional ones, the renderers, and how one is chosen."""

import gzip
import hashlib
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags
from rest_framework.metadata import BaseMetadata
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

JSON = "application/json"
# Accept headers that request the default.
DEFAULT_ACCEPTS = frozenset({"", "*/*", JSON})
WORTH_COMPRESSING = 1024
# gzip named without a quality of zero.
ACCEPTS_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
PROBLEM_JSON = "application/problem+json"
QUALITY = re.compile(r"0(?:\.\d{0,3})?|1(?:\.0{0,3})?")


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


def concurrency_errors(subject: str) -> dict[int, str]:
    """Error descriptions for the API schema of operations with a concurrency limit."""
    again = "Try again after Retry-After seconds."
    return {
        429: "The subscription used up its requests for this minute, or the caller has too many "
        f"{subject} in progress (`too_many_at_once`). {again}",
        503: "The database or the file storage is unavailable, or too many "
        f"{subject} are in progress (`service_busy`). {again}",
    }


# The highest quality; of equal ones the first.
Weight = tuple[float, float]
REFUSED: Weight = (0, float("-inf"))


class MediaTypeOnly(BaseRenderer):
    """Declares a media type for content negotiation; the view returns the bytes, or what becomes JSON."""

    charset: str | None = None

    def render(self, data: Any, *context: Any, **context_options: Any) -> bytes:
        return b"" if data is None else orjson.dumps(data, default=_encode)


class JSONRenderer(MediaTypeOnly):
    media_type = JSON
    format = "json"


class CSVRenderer(MediaTypeOnly):
    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"


class Negotiation(DefaultContentNegotiation):
    """An Accept header that nothing fits is answered 406 only after the credentials were checked.

    A body without a Content-Type is read as JSON: the contract makes that header optional.
    """

    def select_renderer(
        self, request: Request, renderers: list[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        accept = request.META.get("HTTP_ACCEPT", "").strip()
        if accept in DEFAULT_ACCEPTS:
            return renderers[0], renderers[0].media_type
        ranges = _media_ranges(accept)
        renderer_chosen = max(renderers, key=lambda renderer: _find_weight(renderer.media_type, ranges))
        if _find_weight(renderer_chosen.media_type, ranges) > REFUSED:
            return renderer_chosen, renderer_chosen.media_type
        request.nothing_acceptable = True
        return renderers[0], renderers[0].media_type

    def select_parser(self, request: Request, parsers: list[Any]) -> Any:
        if request.content_type:
            return super().select_parser(request, parsers)
        return parsers[0] if parsers[0].media_type == JSON else None


def preferred_type(request: HttpRequest, media_types: Sequence[str]) -> str:
    """The one that the Accept header weighs most; the first if it wants none of them."""
    ranges = _media_ranges(request.META.get("HTTP_ACCEPT", "*/*"))
    return max(media_types, key=lambda media_type: _find_weight(media_type, ranges))


class MethodsOnly(BaseMetadata):
    """OPTIONS returns the Allow header only; the schema describes the rest."""

    def determine_metadata(self, request: Request, view: Any) -> dict[str, Any]:
        return {}


def _media_ranges(accept: str) -> dict[str, Weight]:
    """The quality of each media range in an Accept header (RFC 9110, 12.5.1)."""
    ranges: dict[str, Weight] = {}
    for position, part in enumerate(accept.lower().split(",")):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        weight = (float(quality), -position) if QUALITY.fullmatch(quality) else REFUSED
        ranges.setdefault(media_range, weight)
    return ranges


def _find_weight(media_type: str, ranges: dict[str, Weight]) -> Weight:
    """The quality of the most specific matching range."""
    kind = media_type.partition("/")[0]
    weight = next(
        (ranges[name] for name in (media_type, f"{kind}/*", "*/*", PROBLEM_JSON) if name in ranges), REFUSED
    )
    return weight if weight[0] else REFUSED


def _encode(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return str(value)
