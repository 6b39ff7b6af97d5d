from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Subscription, SubscriptionSlot, User
from accounts.pages.guards import signed_in, signed_in_user
from accounts.selectors.users import subscription_keys
from accounts.services.subscriptions import create_subscription, regenerate_subscription_key
from fulfillment.core.errors import NotFound
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.secrets import masked


def _effect_on_keys(request: HttpRequest) -> str:
    return _("Show the keys") if "reveal" in request.GET else ""


@dangerous(_effect_on_keys)
@require_safe
@signed_in
def show_keys(request: HttpRequest) -> HttpResponse:
    """Keys are masked without `?reveal`."""
    subscription = Subscription.objects.filter(user=signed_in_user(request)).first()
    in_full = "reveal" in request.GET
    values = subscription_keys(subscription) if subscription else {}
    keys = [
        {"slot": slot, "label": slot.label, "value": values[slot] if in_full else masked(values[slot])}
        for slot in SubscriptionSlot
        if slot in values
    ]
    context = {"section": "keys", "keys": keys, "subscription": subscription, "in_full": in_full}
    return render(request, "accounts/keys.html", context)


@harmless
@require_POST
@signed_in
def subscribe(request: HttpRequest) -> HttpResponse:
    if not Subscription.objects.filter(user=signed_in_user(request)).exists():
        create_subscription(user=signed_in_user(request))
        messages.success(request, _("Subscription created, with two keys."))
    return redirect("portal:profile-keys")


@dangerous(gettext_lazy("Regenerate a key"))
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def regenerate_key(request: HttpRequest, slot: str) -> HttpResponse:
    """GET asks, POST regenerates."""
    subscription = _get_subscription(signed_in_user(request))
    if slot not in SubscriptionSlot.values:
        raise NotFound(_("There is a primary and a secondary key only."))
    label = SubscriptionSlot(slot).label
    if request.method == "POST":
        regenerate_subscription_key(subscription=subscription, slot=slot)
        messages.success(
            request, _("%(label)s key regenerated. The old key no longer works.") % {"label": label}
        )
        return redirect(f"{reverse('portal:profile-keys')}?reveal")
    return render(request, "accounts/regenerate_key.html", {"label": label, "section": "keys"})


def _get_subscription(user: User) -> Subscription:
    found = Subscription.objects.filter(user=user).first()
    if found is None:
        raise NotFound(_("You have no subscription yet."))
    return found
