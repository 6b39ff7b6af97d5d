"""Middleware of all requests, and of pages alone."""

import re
from collections.abc import Callable
from typing import Any

import pghistory
from django.conf import settings
from django.contrib import admin
from django.core.handlers.exception import convert_exception_to_response
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.security import SecurityMiddleware
from django.utils.cache import patch_vary_headers
from django.utils.module_loading import import_string

from fulfillment.core.api.errors import problem
from fulfillment.core.api.parsing import (
    FEW_FIELDS,
    PRINT_FILE_BYTES,
    SIGNED_IN_BYTES,
    SIGNED_IN_FORM,
    SMALL_FORM,
    URL_ENCODED,
    field_count,
    stated_size,
)
from fulfillment.core.files.uploads import HEAD_UNREADABLE
from fulfillment.core.http.addresses import is_api, is_for_programs
from fulfillment.core.http.content_policies import ADMIN_POLICY, API_POLICY, PAGE_POLICY
from fulfillment.core.http.head_limits import head_refusal
from fulfillment.core.http.middleware import Middleware

PROBES = ("/healthz", "/readyz", "/metrics")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Search texts may contain tabs and line ends.
UNSAFE_QUERY = re.compile(r"%(?:0[0-8bcef]|1[0-9a-f]|7f)|[\x00-\x1f\x7f]", re.IGNORECASE)
# Besides the API: tokens, and files at signed URLs.
CORS_PATHS = ("/oauth/token", "/oauth/revoke", "/proofs/", "/assets/")
CORS_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
CORS_REQUEST_HEADERS = (
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Ocp-Apim-Subscription-Key, "
    "Range, traceparent"
)
CORS_RESPONSE_HEADERS = (
    "Content-Disposition, Content-Range, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, "
    "WWW-Authenticate, X-Request-ID"
)
# Browsers keep the response to their preflight request this long, most of them for less.
CORS_SECONDS = 7200
SAFE = frozenset({"GET", "HEAD"})


class AllowedHosts(Middleware):
    """Refuses foreign host names, except on probes, which are called by IP address; states the length of responses."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info not in PROBES:
            request.get_host()
        response = self.get_response(request)
        if not response.streaming:
            response.headers.setdefault("Content-Length", str(len(response.content)))
        return response


class PageMiddleware:
    """Calls the PAGE_MIDDLEWARE of the settings, which requests of programs pass by.

    Of its hooks it knows `process_view`, the only one that they use.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.pages: Callable[[HttpRequest], Any] = get_response
        self.of_views: list[Callable[..., HttpResponse | None]] = []
        for name in reversed(settings.PAGE_MIDDLEWARE):
            middleware = import_string(name)(self.pages)
            if hasattr(middleware, "process_view"):
                self.of_views.insert(0, middleware.process_view)
            self.pages = convert_exception_to_response(middleware)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_for_programs(request.path_info):
            return self.get_response(request)
        response: HttpResponseBase = self.pages(request)
        return response

    def process_view(
        self, request: HttpRequest, view: Any, arguments: Any, keywords: Any
    ) -> HttpResponse | None:
        if is_for_programs(request.path_info):
            return None
        called = (process_view(request, view, arguments, keywords) for process_view in self.of_views)
        return next((response for response in called if response is not None), None)


class PageCompression(GZipMiddleware):
    """Compresses HTML. Of random length, so that a secret cannot be found by the size of responses (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)


class BodyLimits(Middleware):
    """Limits the bodies of pages before they are parsed, because files of a form would be written to disk first.

    Signed-out visitors may send short forms only, people one print-ready PDF (`UploadLimits` says to which pages), and
    operators files of any size that the proxy allows; views of programs have their own limits.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        size = stated_size(request)
        if not size:
            return self.get_response(request)
        if size > SMALL_FORM and not _may_send(request, size):
            allowed = f"at most {SMALL_FORM:,} are allowed, or {SIGNED_IN_FORM:,} once signed in"
            message = f"The body has {size:,} bytes; {allowed}."
            return problem(413, "body_too_large", message)
        if size <= SMALL_FORM and field_count(request) > FEW_FIELDS and not request.user.is_authenticated:
            message = (
                f"The form has more than the {FEW_FIELDS} fields that are allowed. Sign in to send more."
            )
            return problem(400, "too_many_fields", message)
        return self.get_response(request)


def _may_send(request: HttpRequest, size: int) -> bool:
    if not request.user.is_authenticated:
        return False
    if size <= (SIGNED_IN_FORM if request.content_type == URL_ENCODED else SIGNED_IN_BYTES):
        return True
    if request.path_info.startswith("/admin/"):
        is_staff = admin.site.has_permission(request)
        return is_staff and (size <= PRINT_FILE_BYTES or request.user.is_operator)
    return request.content_type != URL_ENCODED and size <= PRINT_FILE_BYTES


class ReadableForms(Middleware):
    """Refuses forms that cannot be read, or have a NUL, which cannot be stored.

    Its `process_view` parses the form: it must run after that of `UploadLimits`.
    """

    def process_view(self, request: HttpRequest, *called: Any) -> HttpResponse | None:
        try:
            form = request.POST
        except UnreadablePostError:
            # The client is gone; what is left of the form has no token against forgery.
            return None
        except TypeError:
            # Python raises it for the name of a part with a number and without one (RFC 2231).
            return problem(400, "invalid_request", HEAD_UNREADABLE)
        if any("\0" in text for name, values in form.lists() for text in (name, *values)):
            return problem(400, "invalid_request", "The form contains a NUL character.")
        return None


class ApiHistory(Middleware):
    """Opens the audit context of an API write; authentication adds the caller."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in {"GET", "HEAD"} or not is_api(request.path_info):
            return self.get_response(request)
        with pghistory.context(url=request.path):
            return self.get_response(request)


class RequestFilter(Middleware):
    """Refuses invalid requests before any other work.

    `head_limits` has the limits of lengths and counts. NUL cannot be stored; other control characters disguise URLs
    and log lines. A body of unknown length would be read as empty.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        meta = request.META
        if refusal := head_refusal(meta, request.path_info):
            return problem(refusal.status, refusal.code, refusal.message)
        if CONTROL.search(request.path_info) or UNSAFE_QUERY.search(meta.get("QUERY_STRING", "")):
            return problem(400, "invalid_request", "The address contains a control character.")
        if "HTTP_TRANSFER_ENCODING" in meta and not meta.get("CONTENT_LENGTH"):
            return problem(411, "length_required", "Send the body with a Content-Length.")
        return self.get_response(request)


class SecurityHeaders(SecurityMiddleware):
    """Redirects to https, and sets the security headers of pages, console or API; views may set their own first."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        super().__init__(get_response)
        # A foreign host name is refused here where a redirect would name it; the refusal has the headers too.
        redirect: Any = self.process_request
        self.redirected = convert_exception_to_response(redirect)
        frames = {"X-Frame-Options": settings.X_FRAME_OPTIONS}
        pages = frames | {"Permissions-Policy": "camera=(), geolocation=(), microphone=()"}
        self.policies = {
            "api": frames | {"Content-Security-Policy": API_POLICY},
            "admin": pages | {"Content-Security-Policy": ADMIN_POLICY},
            "page": pages | {"Content-Security-Policy": PAGE_POLICY},
        }

    def __call__(self, request: HttpRequest) -> Any:
        response: Any = self.redirected(request) or self.get_response(request)
        path = request.path_info
        kind = "api" if is_api(path) else "admin" if path.startswith("/admin") else "page"
        for name, value in self.policies[kind].items():
            response.headers.setdefault(name, value)
        return self.process_response(request, response)


class CrossOrigin(Middleware):
    """Scripts of other sites that call the API: none, unless the operator names their origins.

    The API takes no cookies, so a script has no more than the token and the key that it was given.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        takes_scripts = is_api(request.path_info) or request.path_info.startswith(CORS_PATHS)
        if not settings.API_ALLOWED_ORIGINS or not takes_scripts:
            return self.get_response(request)
        origin = request.META.get("HTTP_ORIGIN", "")
        allowed = origin in settings.API_ALLOWED_ORIGINS
        is_preflight = request.method == "OPTIONS" and "HTTP_ACCESS_CONTROL_REQUEST_METHOD" in request.META
        response = HttpResponse(status=204) if allowed and is_preflight else self.get_response(request)
        # Also on responses without the header, so that caches keep both apart.
        patch_vary_headers(response, ["Origin"])
        if allowed:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = CORS_RESPONSE_HEADERS
        if allowed and is_preflight:
            response.headers["Access-Control-Allow-Methods"] = CORS_METHODS
            response.headers["Access-Control-Allow-Headers"] = CORS_REQUEST_HEADERS
            response.headers["Access-Control-Max-Age"] = str(CORS_SECONDS)
        return response


class RetryInterruptedReads(Middleware):
    """Repeats a GET or HEAD whose database connection was closed during the request.

    Writes are never repeated, because they may have taken effect. Requests that begin without a connection are not
    repeated either: the database is unavailable, and a second try would only delay the response.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        connection = connections[DEFAULT_DB_ALIAS]
        if request.method not in SAFE or connection.connection is None or request.META.get("CONTENT_LENGTH"):
            return self.get_response(request)
        attributes = dict(vars(request))
        response = self.get_response(request)
        if not getattr(response, "lost_connection", False):
            return response
        connection.close()
        # The second try must not see data of the first one, such as session and caller.
        vars(request).clear()
        vars(request).update(attributes)
        return self.get_response(request)
