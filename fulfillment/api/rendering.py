import re
from collections.abc import Mapping
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

import orjson
from rest_framework.metadata import BaseMetadata
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from fulfillment.responses import ANYTHING

PROBLEM_JSON = "application/problem+json"


class JSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else orjson.dumps(data, default=_plain)


class Negotiation(DefaultContentNegotiation):
    """An Accept header that nothing fits is answered 406 only after the credentials were checked.

    A body without a Content-Type is read as JSON: the contract makes that header optional.
    """

    def select_renderer(
        self, request: Request, renderers: list[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        accept = request.META.get("HTTP_ACCEPT", "").strip()
        if accept in ANYTHING:
            return renderers[0], renderers[0].media_type
        for wanted in _by_preference(accept):
            for renderer in renderers:
                if wanted == PROBLEM_JSON or fnmatchcase(renderer.media_type, wanted):
                    return renderer, renderer.media_type
        request.nothing_acceptable = True
        return renderers[0], renderers[0].media_type

    def select_parser(self, request: Request, parsers: list[Any]) -> Any:
        if request.content_type:
            return super().select_parser(request, parsers)
        return parsers[0] if parsers[0].media_type == "application/json" else None


class MethodsOnly(BaseMetadata):
    """OPTIONS answers the Allow header; what there is to know is in the schema."""

    def determine_metadata(self, request: Request, view: Any) -> dict[str, Any]:
        return {}


def _by_preference(accept: str) -> list[str]:
    """The media types of an Accept header, the most wanted first; those of quality 0 are refused ones."""
    weighted = []
    for part in accept.lower().split(","):
        media_type, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        weight = float(quality) if re.fullmatch(r"[01](\.\d{0,3})?", quality) else 0.0
        if weight > 0 and media_type:
            weighted.append((-weight, media_type.replace("[", "")))
    return [media_type for _, media_type in sorted(weighted, key=lambda pair: pair[0])]


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return str(value)
