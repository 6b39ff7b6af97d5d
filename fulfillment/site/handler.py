from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from fulfillment.core.client_addresses import bucket_of_address
from fulfillment.core.receiving import limit_slow_body
from fulfillment.core.sending import in_large_pieces
from fulfillment.site.request_heads import shorten_head
from fulfillment.site.unread_answers import busy_answer, count_answer, refuse_unread


class Handler(WSGIHandler):
    """Django's handler with limits on slow clients, and on URL and Content-Type, parsed before `RequestFilter`."""

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        shorten_head(environ)
        limit_slow_body(environ)
        return super().__call__(environ, start_response)

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        if (refusal := refuse_unread(request)) is not None:
            return refusal
        response = super().get_response(request)
        count_answer(response)
        address = bucket_of_address(request.META.get("REMOTE_ADDR", ""))
        return in_large_pieces(response, address, partial(busy_answer, request, 503, "service_busy"))
