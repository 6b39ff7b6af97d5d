"""Limits pages and uploads per user, picks the language, and asks for confirmations and second factors."""

from contextlib import suppress
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils import translation
from django.utils.cache import patch_vary_headers

from accounts.callers import Caller
from accounts.concurrency_limits import PAGES, VISITOR_PAGES
from accounts.pages.confirmation import require_confirmation
from accounts.rate_limits import enforce_limit
from fulfillment.core.api.errors import DATABASE_UNAVAILABLE, problem
from fulfillment.core.api.parsing import SIGNED_IN_FORM, stated_size
from fulfillment.core.concurrency_limits import LimitedStream, client_address, from_browser
from fulfillment.core.errors import ServiceBusy, TooManyRequests
from fulfillment.core.files.downloads import picture_refusal
from fulfillment.core.http.addresses import is_reference
from fulfillment.core.http.middleware import Middleware
from fulfillment.core.http.refusal_page import is_picture, refusal_page, refuse_session
from fulfillment.core.locales import get_locale
from printing.caches import WeightedCache

BEFORE_TWO_FACTOR = ("/profile/two-factor", "/accounts/", "/static/")
# A list shows a page and some dozens of pictures, which browsers keep for a week.
PICTURES_OF_A_PAGE = 5

_users_of_sessions: WeightedCache[str, str] = WeightedCache(capacity=10_000, weight=lambda _: 1)


class Languages(Middleware):
    """Pages are in the language that the person chose, else in the browser's; the reference is in English.

    Django's own would leave its language to the next request of the thread, which may be a program's.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = settings.LANGUAGE_CODE if is_reference(request.path_info) else ""
        with translation.override(get_locale(request, language)):
            response = self.get_response(request)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            patch_vary_headers(response, ["Accept-Language"])
        return response

    def process_view(self, request: HttpRequest, view: Any, *arguments: Any) -> None:
        """Here the user is known; visitors and pictures need no look into the database."""
        if getattr(view, "serves_picture", False) or settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return
        with suppress(*DATABASE_UNAVAILABLE):
            user: Any = request.user
            if user.is_authenticated and user.language and not is_reference(request.path_info):
                translation.activate(get_locale(request, user.language))


class UploadLimits(Middleware):
    """Limits large forms of the portal before they are parsed, which may write 101 MB to disk.

    `process_view` must run before that of the CSRF protection, which parses the form.
    """

    def process_view(self, request: HttpRequest, view: Any, *arguments: Any) -> HttpResponse | None:
        size, path = stated_size(request), request.path_info
        if size <= SIGNED_IN_FORM or path.startswith("/admin/"):
            return None
        max_bytes = getattr(view, "max_form_bytes", SIGNED_IN_FORM)
        if size > max_bytes:
            message = f"The body has {size:,} bytes; at most {max_bytes:,} are allowed here."
            return problem(413, "body_too_large", message)
        try:
            enforce_limit("uploads", request.user.pk, quota=settings.UPLOADS_PER_MINUTE)
        except TooManyRequests as error:
            return refusal_page(error)
        return None


class PageLimits(Middleware):
    """Limits pages and forms of one person, or of one address without a session: in a minute, and at once.

    Pictures count apart, and are not limited at once: a browser loads dozens for a list, each in little time.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        user_key, picture = _user_key(request), is_picture(request.path_info)
        token = from_browser.set(bool(user_key))
        try:
            if not is_reference(request.path_info):
                _count_page(user_key, is_picture=picture)
            if picture:
                return self.get_response(request)
            limit = PAGES if user_key else VISITOR_PAGES
            with limit.slot(user_key, wait=settings.PAGE_WAIT_SECONDS) as held:
                response: HttpResponseBase = self.get_response(request)
                if isinstance(response, StreamingHttpResponse):
                    pieces: Any = response.streaming_content
                    response.streaming_content = LimitedStream(pieces, held.whole.pop_all())
                return response
        except (TooManyRequests, ServiceBusy) as error:
            if picture:
                return picture_refusal(error)
            if user_key and isinstance(error, TooManyRequests):
                refuse_session(request.COOKIES[settings.SESSION_COOKIE_NAME], seconds=error.retry_after)
            return refusal_page(error)
        finally:
            from_browser.reset(token)


def _user_key(request: HttpRequest) -> str:
    """The caller of a signed-in session, which a process looks up once; empty for visitors."""
    session = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not session:
        return ""
    if (user_key := _users_of_sessions.get(session)) is not None:
        return user_key
    if not request.user.is_authenticated:
        return ""
    key = Caller.on_pages(request.user).key
    # Once the address is confirmed, the pages count for another person.
    if request.user.email_confirmed is not None:
        _users_of_sessions.put(session, key)
    return key


def _count_page(user_key: str, *, is_picture: bool) -> None:
    """Raises TooManyRequests above the limit of a minute."""
    policy, factor = ("pictures", PICTURES_OF_A_PAGE) if is_picture else ("pages", 1)
    quota = settings.PAGES_PER_MINUTE if user_key else settings.ADDRESS_PAGES_PER_MINUTE
    with suppress(*DATABASE_UNAVAILABLE):
        # Without the database the page says so, or needs none.
        enforce_limit(policy, user_key or client_address.get(), quota=quota * factor)


class Confirmations(Middleware):
    """Requires a confirmation of signed-in users before a dangerous action reaches its view."""

    def process_view(
        self, request: HttpRequest, view: Any, _: Any, arguments: dict[str, Any]
    ) -> HttpResponse | None:
        return require_confirmation(request, view, arguments) if request.user.is_authenticated else None


class OperatorTwoFactor(Middleware):
    """Redirects, with OPERATOR_TWO_FACTOR=required, operators without a second factor to its setup.

    Not only from the admin: a page could give an application a token with the operator's rights.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        required = settings.OPERATOR_TWO_FACTOR == "required"
        path = request.path_info
        if required and not path.startswith(BEFORE_TWO_FACTOR):
            user: Any = request.user
            if user.is_authenticated and user.is_operator and user.two_factor_since is None:
                return redirect("portal:two-factor")
        return self.get_response(request)
