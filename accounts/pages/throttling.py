import math
from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.rate_limits import RateLimitStatus


def too_many(request: HttpRequest, limit_status: RateLimitStatus, *, what: str, back: str) -> HttpResponse:
    """The page that shows when to try again; `back` is its link."""
    return too_many_seconds(request, limit_status.seconds_until_reset, what=what, back=back)


def too_many_seconds(request: HttpRequest, seconds: int, *, what: str, back: str) -> HttpResponse:
    context = {
        "what": what,
        "back": back,
        "minutes": math.ceil(seconds / 60),
        # Longer times are shown in hours.
        "hours": math.ceil(seconds / 3600) if seconds > 7200 else 0,
        "moment": timezone.now() + timedelta(seconds=seconds),
    }
    response = render(request, "accounts/too_many.html", context, status=429)
    response["Retry-After"] = str(seconds)
    response["Cache-Control"] = "no-store"
    return response
