from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, get_resolver

from fulfillment.core.client_addresses import bucket_of_address
from fulfillment.core.db.connections import renew_connection
from fulfillment.core.headers import send_as_kept
from fulfillment.core.receiving import limit_slow_body
from fulfillment.core.sending import in_large_pieces
from fulfillment.site.request_heads import shorten_head
from fulfillment.site.unread_answers import busy_answer, count_answer, refuse_unread


class Handler(WSGIHandler):
    """Django's handler with limits on slow clients, and on URL and Content-Type, parsed before `RequestFilter`.

    Sentry replaces `__call__` and `get_response` of Django's handlers, so these call them.
    """

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        shorten_head(environ)
        limit_slow_body(environ)
        # So that the first request after a restart of PostgreSQL succeeds.
        renew_connection()
        return super().__call__(environ, start_response)

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        if (refusal := refuse_unread(request)) is not None:
            return refusal
        response = super().get_response(request)
        count_answer(response)
        address = bucket_of_address(request.META.get("REMOTE_ADDR", ""))
        response = in_large_pieces(response, address, partial(busy_answer, request, 503, "service_busy"))
        send_as_kept(response)
        return response

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        request.resolver_match = found = _resolve(request.path_info)
        return found


# Programs call few addresses often, and looking through all patterns takes longer than the work of a middleware.
@lru_cache(maxsize=512)
def _resolve(path: str) -> ResolverMatch:
    return get_resolver().resolve(path)
