from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, get_resolver

from fulfillment.core.db.connections import renew_connection
from fulfillment.core.headers import send_as_kept
from fulfillment.core.http.head_limits import shorten_head


class Handler(WSGIHandler):
    """Django's handler with limits on URL and Content-Type, which it parses before `RequestFilter`.

    Sentry replaces `__call__` and `get_response` of Django's handlers, so these call them.
    """

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        shorten_head(environ)
        # So that the first request after a restart of PostgreSQL succeeds.
        renew_connection()
        return super().__call__(environ, start_response)

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        response = super().get_response(request)
        send_as_kept(response)
        return response

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        request.resolver_match = found = _resolve(request.path_info)
        return found


# Programs call few addresses often, and looking through all patterns takes longer than the work of a middleware.
@lru_cache(maxsize=512)
def _resolve(path: str) -> ResolverMatch:
    return get_resolver().resolve(path)
