"""The start page of the portal, and the checklist of an application's first steps."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from accounts.callers import Caller
from accounts.pages.guards import signed_in_user
from applications.registration.models import Application
from applications.registration.selectors.applications import applications_for, own_applications, with_icons
from fulfillment.core.plugins import Step, offered

SHOWN_AT_START = 4


@dataclass(frozen=True, slots=True)
class Checklist:
    steps: list[Step]

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def is_complete(self) -> bool:
        return self.done == len(self.steps)

    @property
    def next(self) -> Step | None:
        return next((step for step in self.steps if not step.is_done), None)


def build_checklist(application: Application) -> Checklist:
    found = [step for steps in offered("onboarding", "steps") for step in steps(application)]
    return Checklist(sorted(found, key=lambda step: step.position))


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
    newest = own_applications(signed_in_user(request)).order_by("-created").first()
    checklist = build_checklist(newest) if newest else None
    if checklist and checklist.is_complete:
        checklist = None
    context = {"applications": applications, "application": newest, "checklist": checklist}
    page = render(request, "portal/home.html", context)
    add_never_cache_headers(page)
    return page
