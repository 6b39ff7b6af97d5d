import contextlib
from typing import Any

from cryptography.fernet import InvalidToken
from django.contrib import messages
from django.contrib.auth import views
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.devices import remember_device
from accounts.pages.forms import ForgottenPasswordForm, NewPasswordForm
from accounts.pages.guards import signed_in, too_many
from accounts.services.password_resets import link_lifetime, request_reset_link
from accounts.throttles import count_reset
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.secrets import decrypt, encrypt

TOKEN_IN_SESSION = views.INTERNAL_RESET_SESSION_TOKEN


@method_decorator(harmless, name="dispatch")
class PasswordResetView(views.PasswordResetView):
    template_name = "accounts/password_reset.html"
    form_class: Any = ForgottenPasswordForm

    def form_valid(self, form: Any) -> HttpResponse:
        address = self.request.META.get("REMOTE_ADDR", "")
        if refusal := count_reset(address=address):
            return too_many(
                self.request, refusal, what=_("requests for a new password"), back=self.request.path
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
            with contextlib.suppress(InvalidToken):
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
