"""First steps: the start page, access to an application that another user registered, and the page to try one."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.callers import Caller
from accounts.models import AssociationState
from accounts.pages.forms import faults_shown
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_user
from accounts.selectors.associations import association_request_for, association_requests_for
from accounts.selectors.users import find_subscription, subscription_keys
from accounts.services.associations import request_association, withdraw_association
from applications.registration.models import Application
from applications.registration.pages.forms import JoinForm
from applications.registration.pages.frame import page_context, require_readable
from applications.registration.selectors.applications import (
    applications_for,
    find_application,
    first_store_id,
    own_applications,
    select_icons,
)
from fulfillment.core.code_examples import packages
from fulfillment.core.errors import Forbidden, NotFound
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.plugins import OnboardingStep, offered_values
from fulfillment.core.secrets import decrypt

SHOWN_AT_START = 4
DEMO_STORE = "demo"
JOIN_FIELDS = {"ApplicationID": "application", "Message": "message"}
REQUESTS_A_PAGE = 10


@dataclass(frozen=True, slots=True)
class Checklist:
    steps: list[OnboardingStep]

    @property
    def done(self) -> int:
        return sum(step.is_done for step in self.steps)

    @property
    def next(self) -> OnboardingStep | None:
        return next((step for step in self.steps if not step.is_done), None)


def open_checklist(application: Application) -> Checklist | None:
    """None once all of it is done."""
    steps_of_apps = [step for steps in offered_values("onboarding", "steps") for step in steps(application)]
    checklist = Checklist(sorted(steps_of_apps, key=lambda step: step.position))
    return checklist if checklist.next else None


@require_safe
def show_home(request: HttpRequest) -> HttpResponse:
    context = {"sign_up_enabled": settings.SIGN_UP_ENABLED, "public_url": settings.PUBLIC_URL}
    if not request.user.is_authenticated:
        offers = [offer(request) for offer in offered_values("start_page", "live_proof")]
        live = next((offer for offer in offers if offer), None)
        return render(request, "portal/landing.html", {**context, "live": live})
    applications = list(
        select_icons(applications_for(Caller.on_pages(request.user))).order_by("-updated")[:SHOWN_AT_START]
    )
    newest = own_applications(signed_in_user(request)).order_by("-created").first()
    checklist = open_checklist(newest) if newest else None
    context = {"applications": applications, "application": newest, "checklist": checklist}
    page = render(request, "portal/home.html", context)
    add_never_cache_headers(page)
    return page


def _describe_effect(request: HttpRequest, **address: str) -> str:
    return _("Insert my keys") if "fill" in request.GET else ""


@dangerous(_describe_effect)
@signed_in_page
def try_application(request: HttpRequest, application_id: str) -> HttpResponse:
    """The quick start with this application's values, with `?fill` and its secrets for users who may change it."""
    application = require_readable(request, application_id)
    context = page_context(request, application, "try")
    context["packages"] = packages()
    context["filled"] = context["may_write"] and "fill" in request.GET
    context |= example_values(application, with_secrets=context["filled"])
    return render(request, "applications/try.html", context)


def example_values(application: Application, *, with_secrets: bool) -> dict[str, str | bool]:
    now = timezone.now()
    key = application.keys.filter(start_date__lte=now, end_date__gt=now).order_by("-end_date").first()
    subscription = find_subscription(application=application)
    primary = subscription_keys(subscription).get("primary") if subscription and with_secrets else None
    return {
        "public_url": settings.PUBLIC_URL,
        "client_id": application.client_id,
        "key": decrypt(key.ciphertext) if key and with_secrets else "YOUR_KEY",
        "subscription_key": primary or "YOUR_SUBSCRIPTION_KEY",
        "reply_url": application.reply_urls[0] if application.reply_urls else "YOUR_REPLY_URL",
        "store_id": first_store_id(application) or DEMO_STORE,
        "has_key": key is not None,
        "has_reply_url": bool(application.reply_urls),
    }


@signed_in_form(harmless)
def join_application(request: HttpRequest) -> HttpResponse:
    caller = Caller.on_pages(request.user)
    form = JoinForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and (application := _find_application(form)):
        with faults_shown(form, JOIN_FIELDS):
            created = request_association(
                caller=caller,
                application=application,
                user_id=caller.user_id,
                message=form.cleaned_data["message"],
            )[1]
            message = _("Request sent.") if created else _("Your earlier request is still pending.")
            messages.success(request, message)
            return redirect("portal:application-join")
    own = association_requests_for(caller).filter(user=signed_in_user(request), store__isnull=True)
    page = Paginator(own, REQUESTS_A_PAGE).get_page(request.GET.get("page"))
    context = {"form": form, "page": page, "part": "applications"}
    return render(request, "applications/join.html", context)


@signed_in_form(harmless)
def withdraw_joining(request: HttpRequest, request_id: str) -> HttpResponse:
    """GET asks for confirmation; POST performs the action."""
    caller = Caller.on_pages(request.user)
    association_request = association_request_for(caller, request_id)
    if association_request.user_id != caller.user_id:
        raise Forbidden(_("This is another person's request."))
    if request.method != "POST":
        if association_request.state != AssociationState.PENDING:
            return redirect("portal:application-join")
        return render(
            request,
            "applications/join_withdraw.html",
            {"association_request": association_request, "part": "applications"},
        )
    with errors_as_messages(request):
        withdraw_association(caller=caller, request_id=request_id)
        messages.success(request, _("Request withdrawn."))
    return redirect("portal:application-join")


def _find_application(form: JoinForm) -> Application | None:
    try:
        return find_application(form.cleaned_data["application"])
    except NotFound as error:
        form.add_error("application", error.message)
        return None
