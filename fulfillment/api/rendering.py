from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

ANYTHING = {"", "*/*", "application/*", "application/json", "application/problem+json"}


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
        wanted = self.get_accept_list(request)
        first = renderers[0]
        if not ANYTHING.isdisjoint(wanted) and len(renderers) == 1:
            return first, first.media_type
        for media in wanted:
            plain = media.split(";")[0].strip().lower()
            for renderer in renderers:
                if plain in {"*/*", "application/*", renderer.media_type} or (
                    plain in ANYTHING and renderer.media_type == "application/json"
                ):
                    return renderer, renderer.media_type
        request.nothing_acceptable = True
        return first, first.media_type

    def select_parser(self, request: Request, parsers: list[Any]) -> Any:
        if request.content_type:
            return super().select_parser(request, parsers)
        return parsers[0] if parsers[0].media_type == "application/json" else None


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return str(value)
