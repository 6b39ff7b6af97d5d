"""The page of an invitation link. Anyone with the link may answer; accepting requires a sign-in."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.pages.guards import signed_in, signed_in_user
from applications.registration.selectors.owners import invitation_of
from applications.registration.services.owners import accept_invitation, decline_invitation
from fulfillment.core.errors import NotFound
from fulfillment.core.http.dangerous import harmless


@never_cache
@require_safe
def show_invitation(request: HttpRequest, token: str) -> HttpResponse:
    try:
        invitation = invitation_of(token)
    except NotFound:
        return _gone(request)
    context = {
        "invitation": invitation,
        "application": invitation.application,
        "token": token,
        "sign_up_enabled": settings.SIGN_UP_ENABLED,
    }
    return render(request, "applications/invitation.html", context)


@harmless
@require_POST
@signed_in
def accept(request: HttpRequest, token: str) -> HttpResponse:
    try:
        application = accept_invitation(user=signed_in_user(request), token=token)
    except NotFound:
        return _gone(request)
    messages.success(request, f"You are now an owner of {application.name}.")
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
        return _gone(request)
    return render(request, "applications/invitation_declined.html", {"application": application})


def _gone(request: HttpRequest) -> HttpResponse:
    return render(request, "applications/invitation_gone.html", status=404)
