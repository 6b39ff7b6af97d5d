"""The portal's page of an application's keys and subscription; a value is shown in full on request only."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import SubscriptionSlot
from accounts.pages.forms import faults_shown
from accounts.pages.guards import signed_in_form
from accounts.selectors.users import find_subscription, shown_subscription_keys
from accounts.services.subscriptions import regenerate_subscription_key
from applications.registration.models import Application, ApplicationKey
from applications.registration.pages.forms import KEY_FIELDS, KeyForm
from applications.registration.pages.frame import (
    page_context,
    render_confirmation,
    require_access,
    require_writable,
)
from applications.registration.services.keys import (
    MAX_KEYS,
    add_key,
    change_key_dates,
    end_key,
    get_key,
    regenerate_key,
)
from fulfillment.core.errors import NotFound
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.secrets import decrypt, mask_secret

SUBSCRIPTION = "subscription"


def _effect_on_keys(request: HttpRequest, **address: str) -> str:
    if request.method == "POST":
        return _("Add a key")
    return _("Show the key") if request.GET.get("reveal") else ""


@signed_in_form(dangerous(_effect_on_keys))
def show_keys(request: HttpRequest, application_id: str) -> HttpResponse:
    """GET lists the keys, with `?reveal=` one of them in full; POST adds one."""
    application = require_access(request, application_id)
    context = page_context(request, application, "keys", maximum=MAX_KEYS)
    revealed = request.GET.get("reveal", "") if context["may_write"] else ""
    form = context["form"] = KeyForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        with faults_shown(form, KEY_FIELDS):
            key = add_key(
                application=application, **{name: form.cleaned_data[name] for name in KEY_FIELDS.values()}
            )
            messages.success(request, _("Key created. Copy it into your application."))
            return redirect(_keys_address(application, str(key.pk)))
    context["keys"] = [_key_context(key, revealed) for key in application.keys.order_by("created", "pk")]
    in_full = context["subscription_in_full"] = revealed == SUBSCRIPTION
    subscription = find_subscription(application=application)
    context["subscription_keys"] = shown_subscription_keys(subscription, in_full=in_full)
    return render(request, "applications/keys.html", context)


@signed_in_form(dangerous(gettext_lazy("Change the dates of a key")))
def change_dates(request: HttpRequest, application_id: str, key_id: str) -> HttpResponse:
    application = require_writable(request, application_id)
    key = get_key(application, key_id)
    # The inputs have minutes only; an unchanged date keeps its seconds.
    dates = {name: getattr(key, name).replace(second=0, microsecond=0) for name in KEY_FIELDS.values()}
    form = KeyForm(request.POST or None, initial=dates)
    if request.method == "POST" and form.is_valid():
        changed = {name: form.cleaned_data[name] for name in form.changed_data}
        with faults_shown(form, KEY_FIELDS):
            change_key_dates(application=application, key_id=key_id, **changed)
            messages.success(request, _("Dates of the key changed."))
            return redirect("portal:application-keys", application.pk)
    return render(
        request, "applications/key_dates.html", page_context(request, application, "keys", form=form)
    )


@signed_in_form(dangerous(gettext_lazy("Regenerate a key")))
def regenerate(request: HttpRequest, application_id: str, key_id: str) -> HttpResponse:
    application = require_writable(request, application_id)
    key = get_key(application, key_id)
    if request.method == "POST":
        with errors_as_messages(request):
            new = regenerate_key(application=application, key_id=key_id)
            messages.success(request, _("This is the new key. The old one no longer works."))
            return redirect(_keys_address(application, str(new.pk)))
        return redirect("portal:application-keys", application.pk)
    warning = _(
        "The secret ending in %(ciphertext)s stops working at once, and its key ID changes. The "
        "new one has the same dates. To change over without downtime, add a second key first."
    ) % {"ciphertext": mask_secret(decrypt(key.ciphertext))[-4:]}
    return render_confirmation(
        request, application, "keys", heading=_("Regenerate this key?"), warning=warning, verb=_("Regenerate")
    )


@signed_in_form(harmless)
def end(request: HttpRequest, application_id: str, key_id: str) -> HttpResponse:
    application = require_writable(request, application_id)
    key = get_key(application, key_id)
    if request.method == "POST":
        with errors_as_messages(request):
            end_key(application=application, key_id=key_id)
            messages.success(request, _("Key ended."))
        return redirect("portal:application-keys", application.pk)
    warning = _(
        "No one can get a token with the secret ending in %(ciphertext)s from now on. Tokens "
        "issued with it stay valid until they expire."
    ) % {"ciphertext": mask_secret(decrypt(key.ciphertext))[-4:]}
    return render_confirmation(
        request, application, "keys", heading=_("End this key now?"), warning=warning, verb=_("End the key")
    )


@signed_in_form(dangerous(gettext_lazy("Regenerate a subscription key")))
def regenerate_subscription(request: HttpRequest, application_id: str, slot: str) -> HttpResponse:
    application = require_writable(request, application_id)
    subscription = find_subscription(application=application)
    if subscription is None or slot not in SubscriptionSlot.values:
        raise NotFound(_("The application has no such subscription key."))
    if request.method == "POST":
        regenerate_subscription_key(subscription=subscription, slot=slot)
        messages.success(
            request,
            _("%(capitalize)s subscription key regenerated. The old key no longer works.")
            % {"capitalize": slot.capitalize()},
        )
        return redirect(_keys_address(application, SUBSCRIPTION))
    return render_confirmation(
        request,
        application,
        "keys",
        heading=_("Regenerate the %(slot)s subscription key?") % {"slot": slot},
        warning=_("The current %(slot)s subscription key stops working at once. The other key keeps working.")
        % {"slot": slot},
        verb=_("Regenerate"),
    )


def _key_context(key: ApplicationKey, revealed: str) -> dict[str, Any]:
    value, now = decrypt(key.ciphertext), timezone.now()
    in_full = revealed == str(key.pk)
    state = "ended" if key.end_date <= now else "later" if key.start_date > now else "valid"
    return {"key": key, "value": value if in_full else mask_secret(value), "in_full": in_full, "state": state}


def _keys_address(application: Application, reveal: str) -> str:
    return f"{reverse('portal:application-keys', args=[application.pk])}?reveal={reveal}"
