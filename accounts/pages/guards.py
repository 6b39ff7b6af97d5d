"""What surrounds every page for signed-in people."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from fulfillment.core.errors import Forbidden, NotFound
from fulfillment.core.time_zones import zone_named

View = Callable[..., HttpResponse]


def signed_in(view: View) -> View:
    """Asks for a sign-in, shows dates in the user's time zone and turns refusals into error pages.

    Such pages show secrets and other people's names, so no cache keeps them.
    """

    @login_required
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with timezone.override(zone_named(request.user.time_zone)):
            try:
                return view(request, *args, **kwargs)
            except NotFound as error:
                raise Http404(error.message) from error
            except Forbidden as error:
                raise PermissionDenied(error.message) from error

    return guarded
