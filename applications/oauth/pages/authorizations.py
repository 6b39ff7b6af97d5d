"""The applications that a user lets act for them."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_user
from applications.oauth.selectors import user_authorizations
from applications.oauth.services import revoke_tokens
from applications.registration.models import Application
from applications.registration.selectors.applications import application_unknown, find_application
from fulfillment.core.errors import NotFound
from fulfillment.core.http.dangerous import harmless

AUTHORIZATIONS_A_PAGE = 25


@signed_in_page
def show_authorizations(request: HttpRequest) -> HttpResponse:
    searched = request.GET.get("q", "").strip()[:200]
    authorizations = user_authorizations(signed_in_user(request))
    if searched:
        authorizations = [
            each for each in authorizations if searched.lower() in each.application.name.lower()
        ]
    page = Paginator(authorizations, AUTHORIZATIONS_A_PAGE).get_page(request.GET.get("page"))
    context = {"page": page, "searched": searched, "section": "authorizations"}
    return render(request, "accounts/authorizations.html", context)


@signed_in_form(harmless)
def revoke(request: HttpRequest, application_id: str) -> HttpResponse:
    """GET asks for confirmation; POST performs the action."""
    user = signed_in_user(request)
    try:
        application = _authorized_application(user, application_id)
    except NotFound:
        if request.method == "POST":  # a second click
            return redirect("portal:authorizations")
        raise
    if request.method == "POST":
        revoke_tokens(user=user, application=application)
        messages.success(
            request, _("%(name)s no longer has access to your account.") % {"name": application.name}
        )
        return redirect("portal:authorizations")
    return render(request, "accounts/revoke.html", {"application": application, "section": "authorizations"})


def _authorized_application(user: User, application_id: str) -> Application:
    """Raises NotFound for others too, so that it reveals no name."""
    application = find_application(application_id)
    if application not in [each.application for each in user_authorizations(user)]:
        raise application_unknown()
    return application
