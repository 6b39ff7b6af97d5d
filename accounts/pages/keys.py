from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from accounts.models import Subscription, SubscriptionSlot, User
from accounts.pages.confirmation import confirm_by, forget, is_confirmed, password_page
from accounts.pages.forms import PasswordConfirmForm
from accounts.pages.guards import signed_in, signed_in_user
from accounts.selectors.subscriptions import subscription_keys
from accounts.services.subscriptions import create_subscription, regenerate_subscription_key
from fulfillment.core.errors import NotFound
from fulfillment.core.secrets import masked


@method_decorator([sensitive_post_parameters(), signed_in], name="dispatch")
class KeysView(View):
    """Keys are masked until the user confirms the password; POST sends it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(request, PasswordConfirmForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = PasswordConfirmForm(request.POST)
        if form.is_valid() and confirm_by(request, form):
            return redirect("portal:profile-keys")
        return self._show(request, form)

    def _show(self, request: HttpRequest, form: PasswordConfirmForm) -> HttpResponse:
        subscription = Subscription.objects.filter(user=signed_in_user(request)).first()
        in_full = is_confirmed(request)
        values = subscription_keys(subscription) if subscription else {}
        keys = [
            {"slot": slot, "label": slot.label, "value": values[slot] if in_full else masked(values[slot])}
            for slot in SubscriptionSlot
            if slot in values
        ]
        context = {
            "section": "keys",
            "keys": keys,
            "subscription": subscription,
            "in_full": in_full,
            "form": form,
        }
        return render(request, "accounts/keys.html", context)


@require_POST
@signed_in
def hide_keys(request: HttpRequest) -> HttpResponse:
    forget(request)
    return redirect("portal:profile-keys")


@require_POST
@signed_in
def subscribe(request: HttpRequest) -> HttpResponse:
    if not Subscription.objects.filter(user=signed_in_user(request)).exists():
        create_subscription(user=signed_in_user(request))
        messages.success(request, "Subscription created, with two keys.")
    return redirect("portal:profile-keys")


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def regenerate_key(request: HttpRequest, slot: str) -> HttpResponse:
    """GET asks for confirmation, POST regenerates; both need the password first."""
    subscription = _subscription_of(signed_in_user(request))
    if slot not in SubscriptionSlot.values:
        raise NotFound("There is a primary and a secondary key only.")
    label = SubscriptionSlot(slot).label
    if not is_confirmed(request):
        back = reverse("portal:profile-keys")
        return password_page(request, what=f"Regenerate the {label.lower()} key", back=back)
    if request.method == "POST":
        regenerate_subscription_key(subscription=subscription, slot=slot)
        messages.success(request, f"{label} key regenerated. The old key no longer works.")
        return redirect("portal:profile-keys")
    return render(request, "accounts/regenerate_key.html", {"label": label, "section": "keys"})


def _subscription_of(user: User) -> Subscription:
    found = Subscription.objects.filter(user=user).first()
    if found is None:
        raise NotFound("You have no subscription yet.")
    return found
