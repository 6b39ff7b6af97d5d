"""Confirmation by password: for a few minutes it opens keys and two-factor settings to a signed-in user."""

import math
import time

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from accounts.authentication import is_own_password
from accounts.pages.forms import PasswordConfirmForm

SECONDS = 300
SESSION_NAME = "password_confirmed_at"
# Marks the form of `password_page`, to distinguish it from the form of the page behind it.
CONFIRMING = "confirming"


def password_complaint(request: HttpRequest) -> str:
    """The error message for a password that was not accepted."""
    if refusal := getattr(request, "sign_in_refusal", None):
        minutes = math.ceil(refusal.resets_in / 60)
        return f"Too many attempts. Try again in {minutes} minute{'' if minutes == 1 else 's'}."
    return "This is not your password."


def is_confirmed_by(request: HttpRequest, form: forms.Form) -> bool:
    """Whether a valid form holds the user's password; if not, its field says why."""
    if is_own_password(request, form.cleaned_data["password"]):
        return True
    form.add_error("password", password_complaint(request))
    return False


def confirm_by(request: HttpRequest, form: forms.Form) -> bool:
    """As `is_confirmed_by`; the confirmation then lasts some minutes."""
    if not is_confirmed_by(request, form):
        return False
    request.session[SESSION_NAME] = int(time.time())
    return True


def password_page(request: HttpRequest, *, what: str, back: str) -> HttpResponse:
    """Renders the page that requests the password, and then continues at the same URL.

    A form sent there meanwhile is discarded: its page is shown again.
    """
    is_submitted = request.method == "POST" and CONFIRMING in request.POST
    form = PasswordConfirmForm(request.POST if is_submitted else None)
    if is_submitted and form.is_valid() and confirm_by(request, form):
        # The path alone: browsers take what follows `//` for a host.
        return HttpResponseRedirect("/" + request.get_full_path().lstrip("/"))
    context = {"form": form, "what": what, "back": back, "confirming": CONFIRMING}
    return render(request, "accounts/confirm_password.html", context)


def is_confirmed(request: HttpRequest) -> bool:
    return 0 <= time.time() - request.session.get(SESSION_NAME, 0) < SECONDS


def forget(request: HttpRequest) -> None:
    request.session.pop(SESSION_NAME, None)
