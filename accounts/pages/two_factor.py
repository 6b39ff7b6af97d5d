"""Turns the second factor of a sign-in on and off, and makes recovery codes."""

from base64 import b64decode, b64encode

import segno
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from accounts.pages.forms import CodeForm, faults_shown
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_user
from accounts.selectors.users import count_recovery_codes
from accounts.services.two_factor import (
    disable_two_factor,
    enable_two_factor,
    generate_secret_key,
    provisioning_uri,
    renew_recovery_codes,
)
from fulfillment.core.http.dangerous import dangerous
from fulfillment.core.secrets import decrypt, encrypt

SESSION_NAME = "two_factor_key"


@signed_in_page
def show_two_factor(request: HttpRequest) -> HttpResponse:
    remaining = count_recovery_codes(signed_in_user(request))
    context = {"section": "two-factor", "left": remaining}
    return render(request, "accounts/two_factor.html", context)


@signed_in_form(dangerous(gettext_lazy("Set up two-factor authentication"), asks_first=True))
@sensitive_post_parameters()
def set_up(request: HttpRequest) -> HttpResponse:
    """Shows the key as a QR code; a valid code turns the second step on."""
    user = signed_in_user(request)
    if user.two_factor_since is not None:
        return redirect("portal:two-factor")
    key = _key_being_set_up(request)
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with faults_shown(form, {"Code": "code"}):
            codes = enable_two_factor(user=user, key=key, code=form.cleaned_data["code"].strip())
            del request.session[SESSION_NAME]
            update_session_auth_hash(request, user)
            return _show_codes(
                request, codes, _("Two-factor authentication is on. Other browsers are signed out.")
            )
    code = segno.make(provisioning_uri(user, key), error="m")
    context = {
        "section": "two-factor",
        "form": form,
        "key": " ".join(key[start : start + 4] for start in range(0, len(key), 4)),
        "picture": code.svg_data_uri(scale=5, border=4, dark="#000", light="#fff"),
    }
    return render(request, "accounts/two_factor_set_up.html", context)


@signed_in_form(dangerous(gettext_lazy("Turn off two-factor authentication")))
def turn_off(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        user = signed_in_user(request)
        disable_two_factor(user=user)
        update_session_auth_hash(request, user)
        messages.success(request, _("Two-factor authentication is off. Other browsers are signed out."))
        return redirect("portal:two-factor")
    return _ask(request, _("Turn off two-factor authentication"), _("Turn off"))


@signed_in_form(dangerous(gettext_lazy("Create new recovery codes")))
def new_codes(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    if user.two_factor_since is None:
        return redirect("portal:two-factor")
    if request.method == "POST":
        return _show_codes(request, renew_recovery_codes(user=user), _("Your old codes no longer work."))
    return _ask(request, _("Create new recovery codes"), _("Create new codes"))


def _ask(request: HttpRequest, action: str, button: str) -> HttpResponse:
    context = {"section": "two-factor", "what": action, "button": button}
    return render(request, "accounts/two_factor_confirm.html", context)


def _show_codes(request: HttpRequest, codes: list[str], message: str) -> HttpResponse:
    """Shows the codes once, in the response to the POST: only digests of them are stored."""
    return render(
        request, "accounts/recovery_codes.html", {"section": "two-factor", "codes": codes, "notice": message}
    )


def _key_being_set_up(request: HttpRequest) -> str:
    """The pending key; it stays the same after a wrong code, so that no second scan is needed."""
    stored = request.session.get(SESSION_NAME)
    if stored:
        return decrypt(b64decode(stored))
    key = generate_secret_key()
    request.session[SESSION_NAME] = b64encode(encrypt(key)).decode()
    return key
