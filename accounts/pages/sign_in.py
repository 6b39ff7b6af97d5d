from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView, RedirectURLMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.generic import FormView

from accounts.models import Tenant, User
from accounts.pages.faults import show_faults
from accounts.pages.forms import USER_FIELDS, SignInForm, SignUpForm
from accounts.pages.second_step import begin_second_step, complete_sign_in
from accounts.pages.throttling import too_many
from accounts.services.users import create_user
from accounts.throttles import count_sign_up
from fulfillment.core.errors import DomainError
from fulfillment.core.http.dangerous import harmless


@method_decorator(harmless, name="dispatch")
class SignInView(LoginView):
    template_name = "accounts/login.html"
    authentication_form = SignInForm

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**context, "action": self.request.path, "sign_up_enabled": settings.SIGN_UP_ENABLED}

    def form_invalid(self, form: Any) -> HttpResponse:
        if refusal := getattr(self.request, "sign_in_refusal", None):
            return too_many(
                self.request, refusal, what="attempts to sign in", back=self.request.get_full_path()
            )
        return super().form_invalid(form)

    def form_valid(self, form: Any) -> HttpResponse:
        user = form.get_user()
        if user.two_factor_since is not None:
            begin_second_step(self.request, user, self.get_success_url())
            return redirect("second_step")
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
            return too_many(self.request, refusal, what="new accounts", back=self.request.get_full_path())
        try:
            user = create_user(tenant=_tenant_to_join(), **form.cleaned_data)
        except DomainError as error:
            show_faults(form, error, USER_FIELDS)
            return self.form_invalid(form)
        user = User.objects.select_related("tenant").get(pk=user.pk)
        return complete_sign_in(self.request, user, self.get_success_url())


def _tenant_to_join() -> Tenant:
    domain = settings.DEFAULT_TENANT_DOMAIN
    found = Tenant.objects.filter(domain__iexact=domain).first()
    return found or Tenant.objects.get_or_create(domain=domain, defaults={"name": domain})[0]
