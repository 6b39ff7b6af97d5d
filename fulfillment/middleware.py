"""What surrounds every request. Sessions, CSRF, sign-in and messages are for pages: the API never pays for them."""

import re
from collections.abc import Callable
from typing import Any

import pghistory
import pghistory.middleware
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from django.shortcuts import redirect

from fulfillment.api.errors import problem

API_PREFIX = "/api/"
# Called by programs, or files for whoever holds their address: no session, no cookie, no signed-in user.
# Machine answers are never pages.
PROGRAM_PREFIXES = (
    API_PREFIX,
    "/oauth/token",
    "/oauth/revoke",
    "/.well-known/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/proofs/",
    "/assets/",
)

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Encoded, a query may have tabs and line ends: a search may be typed in several lines.
UNSAFE_QUERY = re.compile(r"%(?:0[0-8bcef]|1[0-9a-f]|7f)|[\x00-\x1f\x7f]", re.IGNORECASE)
# A hundred postal codes and every parameter there is fit four times.
LONGEST_ADDRESS, LONGEST_QUERY = 2048, 16_384
BEFORE_TWO_FACTOR = ("/profile/two-factor", "/accounts/", "/static/")

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Beyond the pages' own policy: pictures chosen but not sent yet (blob:). The admin's Alpine is the build that
# evaluates nothing, and its colours are a stylesheet.
ADMIN_POLICY = PAGE_POLICY.replace("img-src 'self' data:", "img-src 'self' data: blob:")
API_POLICY = "default-src 'none'; frame-ancestors 'none'"


class _PagesOnly:
    """Passes requests of programs by."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(PROGRAM_PREFIXES):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]  # of the middleware mixed in


class PageSessions(_PagesOnly, SessionMiddleware):
    pass


class PageCsrf(_PagesOnly, CsrfViewMiddleware):
    def process_view(self, request: HttpRequest, *view: Any) -> Any:
        # They take no cookie, so no other site can make a browser call them with credentials.
        if request.path_info.startswith(PROGRAM_PREFIXES):
            return None
        return super().process_view(request, *view)


class PageAuthentication(_PagesOnly, AuthenticationMiddleware):
    pass


class OperatorTwoFactor:
    """Leads an operator without a second step to its setting up, where `OPERATOR_TWO_FACTOR` is `required`.

    Not only from the admin: a page could give an application a token with the operator's rights.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        required = settings.OPERATOR_TWO_FACTOR == "required"
        if required and not request.path_info.startswith((*PROGRAM_PREFIXES, *BEFORE_TWO_FACTOR)):
            user: Any = request.user
            if user.is_authenticated and user.is_operator and user.two_factor_since is None:
                return redirect("portal:two-factor")
        return self.get_response(request)


class PageMessages(_PagesOnly, MessageMiddleware):
    pass


class PageHistory(_PagesOnly, pghistory.middleware.HistoryMiddleware):
    """Names the signed-in user in the audit trail of what a page or the admin changes."""


class ApiHistory:
    """Opens the audit trail's context of an API write; authentication adds who calls."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method in {"GET", "HEAD"} or not request.path_info.startswith(API_PREFIX):
            return self.get_response(request)
        with pghistory.context(url=request.path):
            return self.get_response(request)


class RequestFilter:
    """Refuses at the door what no honest client sends and nothing behind it could handle well.

    NUL cannot be stored; other control characters make addresses and log lines look like what they are not. A body of
    unknown length would be read as an empty one.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        meta = request.META
        query = meta.get("QUERY_STRING", "")
        if CONTROL.search(request.path_info) or UNSAFE_QUERY.search(query):
            return problem(400, "invalid_request", "The address contains a control character.")
        if len(request.path_info) > LONGEST_ADDRESS or len(query) > LONGEST_QUERY:
            return problem(414, "address_too_long", "The address is too long.")
        if "HTTP_TRANSFER_ENCODING" in meta and not meta.get("CONTENT_LENGTH"):
            return problem(411, "length_required", "Send the body with a Content-Length.")
        return self.get_response(request)


class SecurityHeaders:
    """Sets the policy of the place; a view that needs another one sets its own header first."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        headers = response.headers
        path = request.path_info
        if path.startswith(API_PREFIX):
            headers.setdefault("Content-Security-Policy", API_POLICY)
        else:
            policy = ADMIN_POLICY if path.startswith("/admin") else PAGE_POLICY
            headers.setdefault("Content-Security-Policy", policy)
            headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        return response
