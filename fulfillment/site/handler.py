from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from django.core.handlers.base import BaseHandler
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch, get_resolver
from django.utils.log import log_response

from fulfillment.core.client_addresses import bucket_of_address
from fulfillment.core.db.connections import renew_connection
from fulfillment.core.headers import sent_headers
from fulfillment.core.receiving import limit_slow_body
from fulfillment.core.sending import in_large_pieces
from fulfillment.site.request_heads import shorten_head
from fulfillment.site.unread_answers import busy_answer, count_answer, refuse_unread


class Handler(BaseHandler):
    """Django's WSGI handler with limits on slow clients, and on URL and Content-Type, parsed before `RequestFilter`.

    Without what a service with one URL configuration at the root of its host does not need: the URL configuration and
    the script name of each thread, and signals at the start of requests.
    """

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware()
        self.chain: Any = self._middleware_chain  # type: ignore[attr-defined]  # Django's stubs leave it out

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        shorten_head(environ)
        limit_slow_body(environ)
        # So that the first request after a restart of PostgreSQL succeeds.
        renew_connection()
        response = self.get_response(WSGIRequest(environ))
        cookies = [("Set-Cookie", cookie.output(header="")) for cookie in response.cookies.values()]
        start_response(
            f"{response.status_code} {response.reason_phrase}",
            [*sent_headers(response), *cookies],
        )
        return response

    def get_response(self, request: HttpRequest) -> HttpResponseBase:
        if (refusal := refuse_unread(request)) is not None:
            return refusal
        response: Any = self.chain(request)
        response._resource_closers.append(request.close)  # noqa: SLF001 - as Django does
        if response.status_code >= 400:
            reason, path = response.reason_phrase, request.path
            log_response("%s: %s", reason, path, response=response, request=request)
        count_answer(response)
        address = bucket_of_address(request.META.get("REMOTE_ADDR", ""))
        return in_large_pieces(response, address, partial(busy_answer, request, 503, "service_busy"))

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        request.resolver_match = found = _resolve(request.path_info)
        return found


# Programs call few addresses often, and looking through all patterns takes longer than the work of a middleware.
@lru_cache(maxsize=512)
def _resolve(path: str) -> ResolverMatch:
    return get_resolver().resolve(path)
