"""Rate limit headers of every API response, and the limit of unauthenticated requests."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts import rate_limits
from accounts.rate_limits import RateLimitStatus
from applications.oauth.token_authentication import is_token_known
from fulfillment.core.api.errors import DATABASE_UNAVAILABLE, exception_response
from fulfillment.core.http.addresses import is_api, is_reference
from fulfillment.core.http.middleware import Middleware
from fulfillment.core.http.refusal_page import refusal_page


class RateLimits(Middleware):
    """Authentication counts a known caller against its subscription; all other requests count against their address.

    From an address over its limit only requests with an existing token are served: unknown callers behind the same
    address lock no one out, and cost no more than the look-up of their token.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if is_reference(request.path_info):
            return self._limit_page(request)
        if not is_api(request.path_info):
            return self.get_response(request)
        bucket = rate_limits.address_bucket(rate_limits.ADDRESS, request)
        if (limit_status := rate_limits.cached_rejection(bucket)) and not _carries_token(request):
            return _with_headers(exception_response(rate_limits.refusal(limit_status)), limit_status)
        response = self.get_response(request)
        limit_status = getattr(request, "rate_limit_status", None)
        if limit_status is None:
            limit_status = _address_limit_status(rate_limits.ADDRESS, bucket, response)
            if limit_status.is_exceeded and response.status_code < 500:
                response = exception_response(rate_limits.refusal(limit_status))
        return _with_headers(response, limit_status)

    def _limit_page(self, request: HttpRequest) -> HttpResponse:
        """Counts pages of the API reference on the address, also for signed-in users."""
        bucket = rate_limits.address_bucket(rate_limits.REFERENCE_PAGES, request)
        if limit_status := rate_limits.cached_rejection(bucket):
            return _with_headers(refusal_page(rate_limits.refusal(limit_status)), limit_status)
        response = self.get_response(request)
        limit_status = _address_limit_status(rate_limits.REFERENCE_PAGES, bucket, response)
        if limit_status.is_exceeded and response.status_code < 500:
            response = refusal_page(rate_limits.refusal(limit_status))
        return _with_headers(response, limit_status)


def _carries_token(request: HttpRequest) -> bool:
    try:
        return is_token_known(request.META.get("HTTP_AUTHORIZATION", ""))
    except DATABASE_UNAVAILABLE:
        return False


def _address_limit_status(policy: str, bucket: str, response: HttpResponse) -> RateLimitStatus:
    if response.status_code < 500:
        try:
            return rate_limits.cached_rejection(bucket) or rate_limits.count_request(
                policy=policy, bucket=bucket, quota=settings.ADDRESS_REQUESTS_PER_MINUTE
            )
        except DATABASE_UNAVAILABLE:
            pass
    # The database is unavailable: nothing was counted, and nothing can be served.
    wait = float(response.get("Retry-After", "1"))
    return RateLimitStatus(policy, quota=0, used=0, resets_in=wait)


def _with_headers(response: HttpResponse, limit_status: RateLimitStatus) -> HttpResponse:
    for name, value in limit_status.headers().items():
        response.headers[name] = value
    return response
