"""E-mail addresses and passwords, which links of mails confirm and reset."""

import contextlib
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.devices import remember_device
from accounts.pages.confirmation import page_before
from accounts.pages.forms import USER_FIELDS, EmailForm, ForgottenPasswordForm, NewPasswordForm, faults_shown
from accounts.pages.guards import render_too_many, signed_in, signed_in_form, signed_in_post, signed_in_user
from accounts.selectors.emails import get_email_change, get_user_by_confirmation, pending_email_change
from accounts.services.email_changes import cancel_email_change, confirm_email_change, request_email_change
from accounts.services.mailed_links import (
    confirm_address,
    link_lifetime,
    request_confirmation,
    request_reset_link,
)
from accounts.throttles import count_reset
from fulfillment.core.errors import NotFound
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.secrets import SecretUnreadable, decrypt, encrypt

TOKEN_IN_SESSION = views.INTERNAL_RESET_SESSION_TOKEN


@signed_in_form(dangerous(gettext_lazy("Change the e-mail address")))
def change_email(request: HttpRequest) -> HttpResponse:
    form = EmailForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with faults_shown(form, USER_FIELDS):
            change = request_email_change(user=signed_in_user(request), email=form.cleaned_data["email"])
            messages.success(
                request,
                _("Check the mail of %(email)s: open the link in it to finish the change.")
                % {"email": change.email},
            )
            return redirect("portal:profile-email")
    context = {"form": form, "pending": pending_email_change(signed_in_user(request)), "section": "profile"}
    return render(request, "accounts/email.html", context)


@signed_in_post(harmless)
def cancel_change(request: HttpRequest) -> HttpResponse:
    cancel_email_change(user=signed_in_user(request))
    messages.success(request, _("Change of e-mail address cancelled."))
    return redirect("portal:profile-email")


@harmless
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_email(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a button: mail scanners follow links and must not confirm anything."""
    try:
        if request.method == "POST":
            user = confirm_email_change(token=token)
            return render(request, "accounts/email_confirmed.html", {"changed": user})
        context = {"change": get_email_change(token)}
    except NotFound:
        return render(request, "accounts/email_confirm.html", {"change": None}, status=404)
    return render(request, "accounts/email_confirm.html", context)


@harmless
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def confirm_own_address(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a button, as above. Needs no sign-in: the link proves access to the mailbox."""
    template = "accounts/address_confirm.html"
    try:
        if request.method == "POST":
            user = confirm_address(token=token)
            if request.user.is_authenticated and request.user.pk == user.pk:
                request.user.email_confirmed = user.email_confirmed
            return render(request, template, {"account": user, "is_done": True})
        account = get_user_by_confirmation(token)
    except NotFound:
        return render(request, template, {"account": None}, status=404)
    return render(request, template, {"account": account, "is_done": account.email_confirmed is not None})


@signed_in_post(harmless)
def send_link_again(request: HttpRequest) -> HttpResponse:
    user = signed_in_user(request)
    if user.email_confirmed is None:
        request_confirmation(user=user)
        messages.success(
            request,
            _(
                "We send a link to %(email)s. The limit is %(mails_per_hour)s mails an hour and "
                "%(mails_per_day)s a day."
            )
            % {
                "email": user.email,
                "mails_per_hour": settings.MAILS_PER_HOUR,
                "mails_per_day": settings.MAILS_PER_DAY,
            },
        )
    return redirect("portal:profile")


@signed_in_post(harmless)
def confirm_later(request: HttpRequest) -> HttpResponse:
    """Puts the banner away until the next sign-in; the profile still says it."""
    request.session["email_later"] = True
    return HttpResponseRedirect(page_before(request))


@method_decorator(harmless, name="dispatch")
class PasswordResetView(views.PasswordResetView):
    template_name = "accounts/password_reset.html"
    form_class: Any = ForgottenPasswordForm

    def form_valid(self, form: Any) -> HttpResponse:
        address = self.request.META.get("REMOTE_ADDR", "")
        if refusal := count_reset(address=address):
            return render_too_many(
                self.request,
                refusal.seconds_until_reset,
                attempts=_("requests for a new password"),
                back=self.request.path,
            )
        request_reset_link(email=form.cleaned_data["email"])
        return redirect("password_reset_done")


class PasswordResetDoneView(views.PasswordResetDoneView):
    template_name = "accounts/password_reset_done.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "valid_for": link_lifetime()}


@method_decorator(harmless, name="dispatch")
class PasswordResetConfirmView(views.PasswordResetConfirmView):
    template_name = "accounts/password_reset_confirm.html"
    form_class: Any = NewPasswordForm

    def dispatch(self, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Django keeps the token in the session, where a copy of the database would hold a link that works."""
        session = self.request.session
        if stored := session.get(TOKEN_IN_SESSION):
            # The previous release stored it unencrypted.
            with contextlib.suppress(SecretUnreadable):
                session[TOKEN_IN_SESSION] = decrypt(stored.encode())
        response = super().dispatch(*args, **kwargs)
        if token := session.get(TOKEN_IN_SESSION):
            session[TOKEN_IN_SESSION] = encrypt(token).decode()
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        # Otherwise an attack on the account would lock out its owner even after a reset.
        remember_device(response, form.user)
        return response


class PasswordResetCompleteView(views.PasswordResetCompleteView):
    template_name = "accounts/password_reset_complete.html"


@method_decorator(
    [dangerous(gettext_lazy("Change the password"), asks_first=True), signed_in], name="dispatch"
)
class PasswordChangeView(views.PasswordChangeView):
    template_name = "accounts/password_change.html"
    form_class: Any = NewPasswordForm
    success_url = "/profile"
    extra_context = {"section": "password"}

    def form_valid(self, form: Any) -> HttpResponse:
        messages.success(
            self.request,
            _(
                "Password changed. Other browsers are signed out. Applications that you authorized keep their"
                " access; see Authorized applications."
            ),
        )
        response = super().form_valid(form)
        remember_device(response, form.user)
        return response

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(request, *args, **kwargs)
        # Rendered here, while the user's time zone is active.
        return response.render() if hasattr(response, "render") else response
