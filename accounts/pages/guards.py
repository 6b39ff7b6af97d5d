"""The guard of pages for signed-in users."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.cache import never_cache

from accounts.models import User
from fulfillment.core.errors import Forbidden, NotFound
from fulfillment.core.locales import dates_of_reader
from fulfillment.core.time_zones import zone_named

View = Callable[..., HttpResponseBase]


def signed_in_user(request: HttpRequest) -> User:
    """The user of a request that `signed_in` let pass."""
    if not request.user.is_authenticated:
        raise PermissionDenied
    return request.user


def signed_in(view: View) -> View:
    """Requires a sign-in, writes dates for the reader's time zone and locale, and turns errors of services into pages.

    Such pages show secrets and other people's names, so no cache keeps them.
    """

    @login_required
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        zone = zone_named(signed_in_user(request).time_zone)
        with timezone.override(zone), dates_of_reader(request):
            try:
                return view(request, *args, **kwargs)
            except NotFound as error:
                raise Http404(error.message) from error
            except Forbidden as error:
                raise PermissionDenied(error.message) from error

    return guarded
