"""Sign-in with its second step for users with an authenticator, and sign-up."""

import time
from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.views import LoginView, RedirectURLMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.formats import date_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from django.views.generic import FormView

from accounts.devices import browser_name, known_device, remember_device
from accounts.models import NotificationKind, User
from accounts.pages.confirmation import confirm_by_sign_in
from accounts.pages.forms import USER_FIELDS, CodeForm, SignInForm, SignUpForm, show_faults
from accounts.pages.guards import render_too_many
from accounts.selectors.users import find_active_user, user_by_id
from accounts.services.notifications import notify
from accounts.services.two_factor import check_second_step
from accounts.services.users import create_user, ensure_default_tenant, take_browser_zone
from accounts.throttles import count_sign_up
from fulfillment.core.errors import DomainError, TooManyRequests
from fulfillment.core.http.dangerous import harmless

SESSION_NAME = "second_step"
SECONDS = 600


def complete_sign_in(request: HttpRequest, user: User, destination: str) -> HttpResponse:
    if user.last_login is not None and not known_device(request, user):
        notify_of_sign_in(request, user)
    login(request, user, backend=settings.AUTHENTICATION_BACKENDS[0])
    confirm_by_sign_in(request, user)
    response = _redirect_after_sign_in(request, destination)
    remember_device(response, user)
    return response


def notify_of_sign_in(request: HttpRequest, user: User) -> None:
    """Notifies of a sign-in in a new browser, except the account's first one."""
    browser = browser_name(request.headers.get("User-Agent", ""))
    moment = timezone.now()
    notify(
        user_ids=[user.pk],
        kind=NotificationKind.NEW_SIGN_IN,
        key=f"sign-in:{moment:%Y%m%d%H%M%S%f}",
        title=lambda: _("New sign-in from an unknown browser"),
        text=lambda: (
            _("%(moment)s UTC, from %(address)s with %(browser)s. If it was not you, change your password.")
            % {
                "moment": date_format(moment, "DATETIME_FORMAT"),
                "address": request.META.get("REMOTE_ADDR", ""),
                "browser": browser,
            }
        ),
        path="/accounts/password-change/",
    )


def _redirect_after_sign_in(request: HttpRequest, destination: str) -> HttpResponse:
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
    user = _get_user(begun)
    if begun is None or user is None:
        return redirect(settings.LOGIN_URL)
    form = CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            if check_second_step(user=user, code=form.cleaned_data["code"]):
                del request.session[SESSION_NAME]
                return complete_sign_in(request, user, begun["next"])
        except TooManyRequests as refusal:
            return render_too_many(request, refusal.retry_after, attempts=_("codes"), back=settings.LOGIN_URL)
        form.add_error(
            "code", _("This code is wrong or was used already. Wait for the next code of your app.")
        )
    return render(request, "accounts/second_step.html", {"form": form})


def _get_user(begun: dict[str, Any] | None) -> User | None:
    """The user; None if the time is over or the password has changed."""
    if begun is None or not 0 <= begun["until"] - time.time() <= SECONDS:
        return None
    user = find_active_user(begun["user"])
    return user if user and user.get_session_auth_hash() == begun["password"] else None


@method_decorator(harmless, name="dispatch")
class SignInView(LoginView):
    template_name = "accounts/login.html"
    authentication_form = SignInForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**context, "action": self.request.path, "sign_up_enabled": settings.SIGN_UP_ENABLED}

    def form_invalid(self, form: Any) -> HttpResponse:
        if refusal := getattr(self.request, "sign_in_refusal", None):
            return render_too_many(
                self.request,
                refusal.seconds_until_reset,
                attempts=_("attempts to sign in"),
                back=self.request.get_full_path(),
            )
        return super().form_invalid(form)

    def form_valid(self, form: Any) -> HttpResponse:
        user = form.get_user()
        if user.two_factor_since is not None:
            begin_second_step(self.request, user, self.get_success_url())
            return redirect("second_step")
        if user.last_login is None:
            take_browser_zone(user=user, time_zone=form.cleaned_data["time_zone"])
        return complete_sign_in(self.request, user, self.get_success_url())


@method_decorator([harmless, sensitive_post_parameters(), never_cache], name="dispatch")
class SignUpView(RedirectURLMixin, FormView):
    template_name = "accounts/signup.html"
    form_class = SignUpForm
    next_page = settings.LOGIN_REDIRECT_URL

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.SIGN_UP_ENABLED:
            return render(request, self.template_name, {"form": None}, status=403)
        if request.user.is_authenticated:
            return HttpResponseRedirect(self.get_success_url())
        return super().dispatch(request, *args, **kwargs)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**context, "next": self.get_redirect_url(), "domain": settings.DEFAULT_TENANT_DOMAIN}

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        if refusal := count_sign_up(address=self.request.META.get("REMOTE_ADDR", "")):
            return render_too_many(
                self.request,
                refusal.seconds_until_reset,
                attempts=_("new accounts"),
                back=self.request.get_full_path(),
            )
        try:
            user = create_user(tenant=ensure_default_tenant(), language=_page_language(), **form.cleaned_data)
        except DomainError as error:
            show_faults(form, error, USER_FIELDS)
            return self.form_invalid(form)
        return complete_sign_in(self.request, user_by_id(str(user.pk)), self.get_success_url())


def _page_language() -> str:
    """Empty for that of the installation, which counts where nothing is chosen."""
    language = get_language()[:2]
    return "" if language == settings.DEFAULT_LANGUAGE else language
