"""Limits set the client address and render a page when they refuse a request."""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import get_path_info
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils import translation
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from fulfillment.core.concurrency_limits import client_address
from fulfillment.core.errors import TooManyRequests, Unavailable, find_shortage
from fulfillment.core.http.addresses import PROGRAM_PREFIXES, rate_limit_key_for_ip
from fulfillment.core.http.content_policies import PAGE_POLICY
from fulfillment.core.http.middleware import Middleware
from fulfillment.core.locales import locale_in
from fulfillment.core.observability.instruments import count_refusal
from fulfillment.core.recorded_texts import translated
from printing.caches import WeightedCache

MINUTE_SECONDS = 60


class RefusalPages(Middleware):
    """The API has an error body of its own for these refusals; a page shows the sentence."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = client_address.set(rate_limit_key_for_ip(request.META.get("REMOTE_ADDR", "")))
        try:
            return self.get_response(request)
        finally:
            client_address.reset(token)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        refusal = (
            exception if isinstance(exception, Unavailable | TooManyRequests) else find_shortage(exception)
        )
        return None if refusal is None else refusal_page(refusal)


def refusal_page(refusal: Unavailable | TooManyRequests) -> HttpResponse:
    page = _render_page(refusal.status, refusal.message, get_language())
    headers = {"Cache-Control": "no-store", "Retry-After": str(refusal.retry_after)}
    return HttpResponse(page, status=refusal.status, headers=headers)


# Most of the cost of a refusal, which must be low: a client that floods the service is refused many times.
@lru_cache(maxsize=256)
def _render_page(status: int, message: str, language: str) -> str:
    return render_to_string("portal/busy.html", {"status": status, "message": translated(message)})


@dataclass(slots=True)
class _Refusal:
    until: float
    requests: int = 0


# By cookie, the sessions above a limit of pages: until Retry-After has passed, their pages are refused before all
# other work, because the requests of the API wait in one queue behind these refusals.
_refused: WeightedCache[str, _Refusal] = WeightedCache(capacity=10_000, weight=lambda _refusal: 1)


def refuse_session(session: str, *, seconds: float) -> None:
    now, refusal = time.monotonic(), _refused.get(session)
    if refusal is None or refusal.until < now:
        _refused.put(session, _Refusal(now + seconds))
    else:
        refusal.until = max(refusal.until, now + seconds)


def refused_seconds(environ: dict[str, Any]) -> float:
    """How long the request of a page is refused; 0 for any other request."""
    cookie, path = environ.get("HTTP_COOKIE"), get_path_info(environ)
    match = _cookie_pattern().search(cookie) if cookie else None
    session = match[1] if match else ""
    refusal = _refused.get(session)
    if refusal is None or (seconds := refusal.until - time.monotonic()) <= 0:
        return 0
    if path.startswith((*PROGRAM_PREFIXES, settings.STATIC_URL)) or is_picture(path):
        return 0
    refusal.requests += 1
    # Refused requests alone exceed the limit of a minute.
    if refusal.requests == settings.PAGES_PER_MINUTE:
        refuse_session(session, seconds=MINUTE_SECONDS)
    return seconds


def refuse(seconds: float, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """The response of a WSGI application, in the language of the browser: who is signed in is not looked up."""
    count_refusal("pages")
    headers, page = _render_refusal(int(seconds) + 1, locale_in(environ.get("HTTP_ACCEPT_LANGUAGE", "")))
    start_response("429 Too Many Requests", headers)
    return [page]


@lru_cache(maxsize=512)
def is_picture(path: str) -> bool:
    try:
        return getattr(resolve(path).func, "serves_picture", False)
    except Resolver404:
        return False


@lru_cache(maxsize=1)
def _cookie_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?:^|; ?){re.escape(settings.SESSION_COOKIE_NAME)}=([^;]+)")


@lru_cache(maxsize=256)
def _render_refusal(seconds: int, locale: str) -> tuple[list[tuple[str, str]], bytes]:
    with translation.override(locale):
        message = _("Rate limit is exceeded. Try again in %(wait)s seconds.") % {"wait": seconds}
        page = refusal_page(TooManyRequests(message, retry_after=seconds))
    own = {
        "Content-Length": str(len(page.content)),
        "Content-Security-Policy": PAGE_POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": settings.X_FRAME_OPTIONS,
    }
    return [*page.items(), *own.items()], page.content
