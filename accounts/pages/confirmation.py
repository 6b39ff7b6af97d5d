"""Confirmation: a dangerous action needs the password or a code, once in ten minutes for all of them in the session."""

import math
import time
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters

from accounts.authentication import is_own_password
from accounts.pages.forms import ConfirmationForm
from accounts.pages.guards import signed_in_post
from accounts.services.two_factor import check_second_step
from fulfillment.core.api.parsing import SIGNED_IN_FORM
from fulfillment.core.errors import TooManyRequests
from fulfillment.core.http.dangerous import effect_of, harmless
from fulfillment.core.locales import zone_named
from fulfillment.core.secrets import SecretUnreadable, decrypt, encrypt

SECONDS = 600
SESSION_NAME = "confirmed"
# The field of the form that waits for the confirmation: encrypted; AGAIN for one with files or of great length, which
# is not kept; empty for a visit.
WAITING, AGAIN = "waiting_form", "again"


def confirmed_until(request: HttpRequest, *, shown: bool = False) -> datetime | None:
    """The end of the confirmation in the user's time zone. A new password or second factor ends it at once.

    With `shown` not the one of a sign-in, which ends with a sign-out and which pages do not mention.
    """
    user: Any = request.user
    if not user.is_authenticated or not (stored := request.session.get(SESSION_NAME)):
        return None
    until, credentials, *of_sign_in = stored
    if shown and of_sign_in:
        return None
    is_valid = 0 < until - time.time() <= SECONDS
    if not is_valid or not constant_time_compare(credentials, user.get_session_auth_hash()):
        return None
    return datetime.fromtimestamp(until, tz=zone_named(user.time_zone))


@sensitive_post_parameters("password", "code")
def require_confirmation(request: HttpRequest, view: Any, arguments: dict[str, Any]) -> HttpResponse | None:
    """The page that asks for a confirmation, where the request needs one; after it the view gets the same form."""
    if request.method == "POST" and WAITING in request.POST:
        return _check_confirmation(request)
    effect = effect_of(view, request, arguments)
    if not effect or confirmed_until(request):
        return None
    waiting = ""
    if request.method == "POST":
        form = request.POST.urlencode()
        # Encrypted, because forms hold passwords and secrets.
        is_kept = not request.FILES and len(form) <= SIGNED_IN_FORM // 2
        waiting = encrypt(_bind_purpose(request) + form).decode() if is_kept else AGAIN
    return _render_page(request, ConfirmationForm(request.user), effect, waiting)


def confirm_by_sign_in(request: HttpRequest, user: Any) -> None:
    """The password, and the code where there is one, were typed a moment ago."""
    request.session[SESSION_NAME] = [*_confirmation_of(user), "sign-in"]


@signed_in_post(harmless)
def end_confirmation(request: HttpRequest) -> HttpResponse:
    request.session.pop(SESSION_NAME, None)
    return HttpResponseRedirect(page_before(request))


def _render_page(request: HttpRequest, form: ConfirmationForm, effect: str, waiting: str) -> HttpResponse:
    context = {
        "form": form,
        "effect": effect,
        "name": WAITING,
        "waiting": waiting,
        "back": page_before(request),
    }
    response = render(request, "accounts/confirm.html", context)
    response["Cache-Control"] = "no-store"
    return response


def _check_confirmation(request: HttpRequest) -> HttpResponse | None:
    form, waiting = ConfirmationForm(request.user, request.POST), request.POST[WAITING]
    if not confirmed_until(request) and not (form.is_valid() and _is_confirmed_by(request, form)):
        return _render_page(request, form, request.POST.get("effect", ""), waiting)
    purpose, form_text = _bind_purpose(request), ""
    with suppress(SecretUnreadable):
        form_text = decrypt(waiting.encode())
    if form_text.startswith(purpose):
        request.POST = QueryDict(form_text.removeprefix(purpose))
        return None
    if waiting == AGAIN:
        messages.info(request, _("Confirmed. Fill in the form again and send it."))
    # The path alone: browsers take what follows `//` for a host.
    return HttpResponseRedirect("/" + request.get_full_path().lstrip("/"))


def page_before(request: HttpRequest) -> str:
    before = request.headers.get("Referer", "")
    return (
        before if url_has_allowed_host_and_scheme(before, allowed_hosts={request.get_host()}) else "/profile"
    )


def _bind_purpose(request: HttpRequest) -> str:
    """Binds a waiting form to its page and user, so that no other encrypted value is taken for one."""
    return f"{WAITING} {request.user.pk} {request.get_full_path()}\n"


def _is_confirmed_by(request: HttpRequest, form: ConfirmationForm) -> bool:
    user: Any = request.user
    if code := form.cleaned_data.get("code"):
        try:
            is_right, name, complaint = (
                check_second_step(user=user, code=code),
                "code",
                _("This code is wrong. Enter the code that your app shows now."),
            )
        except TooManyRequests as error:
            is_right, name, complaint = False, "code", _too_many(error.retry_after)
    else:
        is_right, name = is_own_password(request, form.cleaned_data["password"]), "password"
        refusal = getattr(request, "sign_in_refusal", None)
        complaint = _too_many(refusal.resets_in) if refusal else _("This is not your password.")
    if is_right:
        request.session[SESSION_NAME] = _confirmation_of(user)
    else:
        form.add_error(name, complaint)
    return is_right


def _too_many(seconds: float) -> str:
    minutes = math.ceil(seconds / 60)
    return ngettext(
        "Too many attempts. Try again in %(minutes)s minute.",
        "Too many attempts. Try again in %(minutes)s minutes.",
        minutes,
    ) % {"minutes": minutes}


def _confirmation_of(user: Any) -> list[Any]:
    return [int(time.time()) + SECONDS, user.get_session_auth_hash()]
