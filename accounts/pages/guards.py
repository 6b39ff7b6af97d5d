"""The guard of pages for signed-in users, and the page for those who try too often."""

import math
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from fulfillment.core.errors import Forbidden, NotFound
from fulfillment.core.locales import zone_named

View = Callable[..., HttpResponseBase]
Decorator = Callable[[View], View]


def signed_in_user(request: HttpRequest) -> User:
    """The user of a request that `signed_in` let pass."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user


def signed_in(view: View) -> View:
    """Requires a sign-in, shows times of the reader's zone, and turns errors of services into pages.

    Such pages show secrets and other people's names, so no cache keeps them.
    """

    @login_required
    @never_cache
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        zone = zone_named(signed_in_user(request).time_zone)
        with timezone.override(zone):
            try:
                return view(request, *args, **kwargs)
            except NotFound as error:
                raise Http404(error.message) from error
            except Forbidden as error:
                raise PermissionDenied(error.message) from error

    return wrapper


def signed_in_page(view: View) -> View:
    """A page that only reads (GET and HEAD) and needs a sign-in."""
    return require_safe(signed_in(view))


def signed_in_form(mark: Decorator) -> Decorator:
    """A page with a form that it accepts itself (GET, HEAD and POST). `mark` is `harmless` or `dangerous(…)`."""
    return lambda view: mark(require_http_methods(["GET", "HEAD", "POST"])(signed_in(view)))


def signed_in_post(mark: Decorator) -> Decorator:
    """The target of a button (POST). `mark` as for `signed_in_form`."""
    return lambda view: mark(require_POST(signed_in(view)))


def render_too_many(request: HttpRequest, seconds: int, *, attempts: str, back: str) -> HttpResponse:
    """The page that shows when to try again; `back` is its link."""
    context = {
        "what": attempts,
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
