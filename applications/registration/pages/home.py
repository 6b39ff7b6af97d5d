"""The start page of the portal."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from accounts.callers import Caller
from applications.registration.selectors.applications import applications_for, with_icons
from fulfillment.core.plugins import offered

SHOWN_AT_START = 4


@require_safe
def show_home(request: HttpRequest) -> HttpResponse:
    context = {"sign_up_enabled": settings.SIGN_UP_ENABLED, "public_url": settings.PUBLIC_URL}
    if not request.user.is_authenticated:
        offers = [offer(request) for offer in offered("start_page", "live_proof")]
        live = next((offer for offer in offers if offer), None)
        return render(request, "portal/landing.html", {**context, "live": live})
    applications = list(
        with_icons(applications_for(Caller.on_pages(request.user))).order_by("-updated")[:SHOWN_AT_START]
    )
    page = render(request, "portal/home.html", {"applications": applications})
    add_never_cache_headers(page)
    return page
