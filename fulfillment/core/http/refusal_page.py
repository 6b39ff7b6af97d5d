"""Limits set the client address and render a page when they refuse a request; content security policies."""

from collections.abc import Callable
from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import get_language

from fulfillment.core.client_addresses import rate_limit_key_for_ip
from fulfillment.core.concurrency_limits import client_address
from fulfillment.core.errors import TooManyRequests, Unavailable, shortage_of


class RefusalPages:
    """The API has an error body of its own for these refusals; a page shows the sentence."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = client_address.set(rate_limit_key_for_ip(request.META.get("REMOTE_ADDR", "")))
        try:
            return self.get_response(request)
        finally:
            client_address.reset(token)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        refusal = (
            exception if isinstance(exception, Unavailable | TooManyRequests) else shortage_of(exception)
        )
        return None if refusal is None else refusal_page(refusal)


def refusal_page(refusal: Unavailable | TooManyRequests) -> HttpResponse:
    page = _rendered(refusal.status, refusal.message, get_language())
    headers = {"Cache-Control": "no-store", "Retry-After": str(refusal.retry_after)}
    return HttpResponse(page, status=refusal.status, headers=headers)


# Most of the cost of a refusal, which must be low: a client that floods the service is refused many times.
@lru_cache(maxsize=256)
def _rendered(status: int, message: str, language: str) -> str:
    return render_to_string("portal/busy.html", {"status": status, "message": message})


PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Beyond the pages' own policy: pictures chosen but not sent yet (blob:). The admin's Alpine is the build that
# evaluates nothing, and its colours are a stylesheet.
ADMIN_POLICY = PAGE_POLICY.replace("img-src 'self' data:", "img-src 'self' data: blob:")
API_POLICY = "default-src 'none'; frame-ancestors 'none'"
