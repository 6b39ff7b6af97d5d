"""Scripts of other sites that call the API: none, unless the operator names their origins.

The API takes no cookies, so a script has no more than the token and the key that it was given.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from fulfillment.core.http.addresses import is_api

# Besides the API: tokens, and files at signed URLs.
OPEN = ("/oauth/token", "/oauth/revoke", "/proofs/", "/assets/")
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
REQUEST_HEADERS = (
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Ocp-Apim-Subscription-Key, "
    "Range, traceparent"
)
RESPONSE_HEADERS = (
    "Content-Disposition, Content-Range, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, "
    "WWW-Authenticate, X-Request-ID"
)
# Browsers keep the answer to their question this long, most of them for less.
SECONDS = 7200


class CrossOrigin:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not settings.API_ALLOWED_ORIGINS or not _is_open(request.path_info):
            return self.get_response(request)
        origin = request.META.get("HTTP_ORIGIN", "")
        allowed = origin in settings.API_ALLOWED_ORIGINS
        is_preflight = request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META
        response = HttpResponse(status=204) if allowed and is_preflight else self.get_response(request)
        # Also on responses without the header, so that caches keep both apart.
        patch_vary_headers(response, ["Origin"])
        if allowed:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = RESPONSE_HEADERS
        if allowed and is_preflight:
            response.headers["Access-Control-Allow-Methods"] = METHODS
            response.headers["Access-Control-Allow-Headers"] = REQUEST_HEADERS
            response.headers["Access-Control-Max-Age"] = str(SECONDS)
        return response


def _is_open(path: str) -> bool:
    return is_api(path) or path.startswith(OPEN)
