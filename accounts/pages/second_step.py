"""The second step of a sign-in: users with an authenticator must also enter a code."""

import time
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.devices import browser_named, known_device, remember_device
from accounts.models import NotificationKind, User
from accounts.pages.forms import CodeForm
from accounts.pages.throttling import too_many_seconds
from accounts.services.notifications import notify
from accounts.services.two_factor import check_second_step
from fulfillment.core.errors import TooManyRequests
from fulfillment.core.http.dangerous import harmless

SESSION_NAME = "second_step"
SECONDS = 600


def complete_sign_in(request: HttpRequest, user: User, destination: str) -> HttpResponse:
    if user.last_login is not None and not known_device(request, user):
        notify_of_sign_in(request, user)
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    response = _move_on(request, destination)
    remember_device(response, user)
    return response


def notify_of_sign_in(request: HttpRequest, user: User) -> None:
    """Notifies of a sign-in in a new browser, except the account's first one."""
    browser = browser_named(request.headers.get("User-Agent", ""))
    moment = timezone.now()
    notify(
        user_ids=[user.pk],
        kind=NotificationKind.NEW_SIGN_IN,
        key=f"sign-in:{moment:%Y%m%d%H%M%S%f}",
        title="New sign-in from an unknown browser",
        text=f"{moment:%d %b %Y, %H:%M} UTC, from {request.META.get('REMOTE_ADDR', '')} with {browser}. "
        "If it was not you, change your password.",
        path="/accounts/password-change/",
    )


def _move_on(request: HttpRequest, destination: str) -> HttpResponse:
    """Continues a sign-in for an application on a separate page.

    Browsers apply `form-action` to every redirect after a form, and these redirects end at the application.
    """
    if destination.startswith("/oauth/"):
        return render(request, "accounts/continue.html", {"destination": destination})
    # Django's `redirect` would look for a view of this name.
    return HttpResponseRedirect(destination)


def begin_second_step(request: HttpRequest, user: User, destination: str) -> None:
    """Remembers the user whose password was right, for ten minutes at most."""
    request.session.cycle_key()
    request.session[SESSION_NAME] = {
        "user": str(user.pk),
        "password": user.get_session_auth_hash(),
        "until": int(time.time()) + SECONDS,
        "next": destination,
    }


@harmless
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show_second_step(request: HttpRequest) -> HttpResponse:
    begun = request.session.get(SESSION_NAME)
    user = _user_of(begun)
    if begun is None or user is None:
        return redirect(settings.LOGIN_URL)
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            if check_second_step(user=user, code=form.cleaned_data["code"]):
                del request.session[SESSION_NAME]
                return complete_sign_in(request, user, begun["next"])
        except TooManyRequests as refusal:
            return too_many_seconds(request, refusal.retry_after, what="codes", back=settings.LOGIN_URL)
        form.add_error("code", "This code does not fit, or it was used already. Wait for the next one.")
    return render(request, "accounts/second_step.html", {"form": form})


def _user_of(begun: dict[str, Any] | None) -> User | None:
    """The user; None if the time is over or the password has changed."""
    if begun is None or not 0 <= begun["until"] - time.time() <= SECONDS:
        return None
    user = User.objects.filter(pk=begun["user"], is_active=True).select_related("tenant").first()
    return user if user and user.get_session_auth_hash() == begun["password"] else None
