"""Owners of an application, and the page of an invitation: open to anyone with its link, accepted after a sign-in."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.callers import Caller
from accounts.pages.forms import faults_shown
from accounts.pages.guards import signed_in, signed_in_form, signed_in_post, signed_in_user
from accounts.selectors.users import user_by_id
from applications.registration.models import Application
from applications.registration.pages.forms import InviteForm
from applications.registration.pages.frame import (
    page_context,
    render_confirmation,
    require_access,
    require_readable,
    require_writable,
)
from applications.registration.selectors.applications import may_write
from applications.registration.selectors.owners import (
    application_people,
    get_invitation,
    joining_requests,
    pending_invitation,
    pending_invitations,
)
from applications.registration.services.owners import (
    LIFETIME,
    accept_invitation,
    decline_invitation,
    invite_owner,
    remove_person,
    withdraw_invitation,
)
from fulfillment.core.errors import Forbidden, NotFound
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.page_messages import errors_as_messages

PEOPLE_A_PAGE = 50
JOINING_SHOWN = 20


@signed_in_form(dangerous(gettext_lazy("Invite an owner")))
def show_owners(request: HttpRequest, application_id: str) -> HttpResponse:
    """GET shows who manages the application; POST invites an owner."""
    application = require_access(request, application_id)
    form = InviteForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _invite(request, application, form):
        return redirect("portal:application-owners", application.pk)
    context = page_context(request, application, "owners", form=form, days=LIFETIME.days, now=timezone.now())
    searched = context["searched"] = request.GET.get("q", "").strip()[:200]
    people = application_people(application, searched)
    context["page"] = Paginator(people, PEOPLE_A_PAGE).get_page(request.GET.get("page"))
    if context["may_write"]:
        context["invitations"] = pending_invitations(application)
        context["joining"] = joining_requests(application)[:JOINING_SHOWN]
    return render(request, "applications/owners.html", context)


@signed_in_post(dangerous(gettext_lazy("Invite an owner again")))
def send_again(request: HttpRequest, application_id: str, invitation_id: str) -> HttpResponse:
    application = require_writable(request, application_id)
    with errors_as_messages(request):
        invited = pending_invitation(application, invitation_id)
        invite_owner(caller=Caller.on_pages(request.user), application=application, email=invited.email)
        messages.success(
            request,
            _("%(email)s was sent a new link. The old link no longer works.") % {"email": invited.email},
        )
    return redirect("portal:application-owners", application.pk)


@signed_in_form(harmless)
def withdraw(request: HttpRequest, application_id: str, invitation_id: str) -> HttpResponse:
    """GET asks for confirmation; POST performs the action."""
    application = require_writable(request, application_id)
    caller = Caller.on_pages(request.user)
    if request.method != "POST":
        invited = pending_invitation(application, invitation_id)
        return render_confirmation(
            request,
            application,
            "owners",
            heading=_("Withdraw the invitation of %(email)s?") % {"email": invited.email},
            warning=_("The link in their mail no longer works then. You can invite them again at any time."),
            verb=_("Withdraw"),
        )
    with errors_as_messages(request):
        invited = withdraw_invitation(caller=caller, application=application, invitation_id=invitation_id)
        messages.success(request, _("Invitation of %(email)s withdrawn.") % {"email": invited.email})
    return redirect("portal:application-owners", application.pk)


@signed_in_form(harmless)
def remove(request: HttpRequest, application_id: str, user_id: str) -> HttpResponse:
    application = require_readable(request, application_id)
    person = application_people(application).filter(pk=user_by_id(user_id).pk).first()
    if person is None:
        raise NotFound(_("This user has no role on the application."))
    is_self = person.pk == request.user.pk
    if not is_self and not may_write(Caller.on_pages(request.user), application):
        raise Forbidden(_("Only owners of this application can remove others."))
    if request.method == "POST":
        return _remove(request, application, person, is_self)
    return render_confirmation(
        request,
        application,
        "owners",
        heading=_ask_question(person, is_self),
        warning=_describe_removal(person, is_self),
        verb=_("Leave") if is_self else _("Remove"),
    )


def _invite(request: HttpRequest, application: Application, form: InviteForm) -> bool:
    email = form.cleaned_data["email"]
    with faults_shown(form, {"Email": "email"}):
        invite_owner(caller=Caller.on_pages(request.user), application=application, email=email)
        messages.success(
            request,
            _("%(email)s invited. The link in the mail works for %(days)s days.")
            % {"email": email, "days": LIFETIME.days},
        )
    return form.is_valid()


def _remove(request: HttpRequest, application: Application, person: Any, is_self: bool) -> HttpResponse:
    with errors_as_messages(request):
        remove_person(caller=Caller.on_pages(request.user), application=application, user_id=person.pk)
        if is_self:
            messages.success(request, _("You left %(name)s.") % {"name": application.name})
            return redirect("portal:applications")
        message = _("%(full_name)s no longer has access to the application.")
        messages.success(request, message % {"full_name": person.full_name})
    return redirect("portal:application-owners", application.pk)


def _ask_question(person: Any, is_self: bool) -> str:
    return (
        _("Leave this application?")
        if is_self
        else _("Remove %(full_name)s?") % {"full_name": person.full_name}
    )


def _describe_removal(person: Any, is_self: bool) -> str:
    if is_self:
        return _(
            "You no longer see the application, its keys and its stores. Another owner can invite you again."
        )
    if person.is_owner:
        message = _(
            "%(full_name)s loses access to the application, and the invitations they sent expire. Keys they have seen "
            "stay valid: regenerate those that matter."
        )
    else:
        message = _("%(full_name)s loses access to the application, and the invitations they sent expire.")
    return message % {"full_name": person.full_name}


@never_cache
@require_safe
def show_invitation(request: HttpRequest, token: str) -> HttpResponse:
    try:
        invitation = get_invitation(token)
    except NotFound:
        return _render_gone_page(request)
    context = {
        "invitation": invitation,
        "application": invitation.application,
        "token": token,
        "sign_up_enabled": settings.SIGN_UP_ENABLED,
    }
    return render(request, "applications/invitation.html", context)


@harmless
@require_POST
def accept(request: HttpRequest, token: str) -> HttpResponseBase:
    if not request.user.is_authenticated:
        # A sign-in leads on by GET: to the page with the button.
        return redirect_to_login(reverse("portal:invitation", args=[token]))
    return _accept(request, token)


@signed_in
def _accept(request: HttpRequest, token: str) -> HttpResponse:
    try:
        application = accept_invitation(user=signed_in_user(request), token=token)
    except NotFound:
        return _render_gone_page(request)
    messages.success(request, _("You are now an owner of %(name)s.") % {"name": application.name})
    return redirect("portal:application", application.pk)


@harmless
@never_cache
@require_POST
def decline(request: HttpRequest, token: str) -> HttpResponse:
    try:
        application = decline_invitation(
            user=request.user if request.user.is_authenticated else None, token=token
        )
    except NotFound:
        return _render_gone_page(request)
    return render(request, "applications/invitation_declined.html", {"application": application})


def _render_gone_page(request: HttpRequest) -> HttpResponse:
    return render(request, "applications/invitation_gone.html", status=404)
