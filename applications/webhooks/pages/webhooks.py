"""The portal's forms of a webhook; a secret is shown once, after it was made or rotated."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.pages.forms import faults_shown
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_post
from applications.registration.models import Application
from applications.registration.pages.frame import (
    page_context,
    render_confirmation,
    require_readable,
    require_writable,
)
from applications.registration.pages.home import example_values
from applications.registration.selectors.applications import store_names
from applications.webhooks.event_types import EVERYTHING, PATTERNS, EventType, matches_pattern
from applications.webhooks.models import Webhook
from applications.webhooks.selectors.webhooks import application_webhooks, find_webhook, webhook_etag
from applications.webhooks.services.webhooks import (
    MAX_WEBHOOKS,
    change_webhook,
    create_webhook,
    delete_webhook,
    enable_webhook,
    rotate_secret,
)
from fulfillment.core.http.dangerous import dangerous, harmless
from fulfillment.core.page_messages import errors_as_messages
from fulfillment.core.recorded_texts import translated
from fulfillment.core.secrets import decrypt, encrypt

# The API's names of the fields.
WEBHOOK_FIELDS = {
    "URL": "url",
    "EventTypes": "event_types",
    "StoreIDs": "store_ids",
    "IsEnabled": "is_enabled",
}
RECOVER_FIELDS = {"Since": "since"}
ALL, CHOSEN = "all", "chosen"
GROUPS = {
    "order.*": gettext_lazy("All events of orders"),
    "association.*": gettext_lazy("All decisions on requests for access to a store"),
    "webhook.*": gettext_lazy("All events of webhooks"),
    "budget.*": gettext_lazy("All events of budgets"),
    "batch.*": gettext_lazy("All events of batches"),
}
MADE = "webhook_made"


class WebhookForm(forms.Form):
    url = forms.CharField(
        label=gettext_lazy("Endpoint URL"),
        max_length=2000,
        widget=forms.URLInput(attrs={"placeholder": "https://", "spellcheck": "false", "class": "mono"}),
        help_text=gettext_lazy("A public https URL. Events are sent to it as signed POST requests."),
    )
    which = forms.ChoiceField(
        label=gettext_lazy("Events"),
        required=False,
        choices=[
            (ALL, gettext_lazy("All events, including types added later")),
            (CHOSEN, gettext_lazy("Only these:")),
        ],
        widget=forms.RadioSelect,
    )
    event_types = forms.MultipleChoiceField(
        label=gettext_lazy("Event types"),
        required=False,
        choices=[(name, name) for name in (*PATTERNS, *EventType.values)],
        widget=forms.CheckboxSelectMultiple,
    )
    store_ids = forms.MultipleChoiceField(
        label=gettext_lazy("Stores"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Select none to receive the events of all stores."),
    )

    def __init__(self, *args: Any, application: Application, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial.setdefault("which", ALL if EVERYTHING in self.initial["event_types"] else CHOSEN)
        names = store_names(application)
        # The API takes any store.
        hidden_stores = {name: name for name in self.initial.get("store_ids", ()) if name not in names}
        field: Any = self.fields["store_ids"]
        field.choices = [*names.items(), *hidden_stores.items()]

    @property
    def event_groups(self) -> list[dict[str, Any]]:
        """The choice of a whole group, then those of its types."""
        boxes = {str(box.data["value"]): box for box in self["event_types"]}
        return [
            {
                "whole": boxes[pattern],
                "label": GROUPS[pattern],
                "types": [
                    (boxes[event_type], translated(event_type.label).replace("`", ""))
                    for event_type in EventType
                    if matches_pattern(pattern, event_type)
                ],
            }
            for pattern in PATTERNS
            if pattern != EVERYTHING
        ]

    def clean(self) -> dict[str, Any]:
        cleaned = dict(super().clean() or {})
        if cleaned.get("which") == ALL:
            cleaned["event_types"] = [EVERYTHING]
        elif "event_types" in cleaned and not cleaned["event_types"]:
            self.add_error("event_types", _("Select at least one event type, or all events."))
        return cleaned

    def values(self) -> dict[str, Any]:
        """The form's values under the API's names."""
        return {
            name: self.cleaned_data[field]
            for name, field in WEBHOOK_FIELDS.items()
            if field in self.cleaned_data
        }


class ChangeWebhookForm(WebhookForm):
    is_enabled = forms.BooleanField(
        label=gettext_lazy("Enabled"),
        required=False,
        help_text=gettext_lazy(
            "A disabled webhook receives no events. They are kept for 30 days and can be recovered."
        ),
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)


class RecoverForm(forms.Form):
    since = forms.DateTimeField(
        label=gettext_lazy("Since"),
        widget=forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"}),
    )


@signed_in_page
def list_webhooks(request: HttpRequest, application_id: str) -> HttpResponse:
    application = require_readable(request, application_id)
    webhooks = list(application_webhooks(application))
    context = page_context(request, application, "webhooks", webhooks=webhooks, maximum=MAX_WEBHOOKS)
    context |= example_values(application, with_secrets=False)
    return render(request, "applications/webhooks.html", context)


@signed_in_form(dangerous(gettext_lazy("Add a webhook")))
def new_webhook(request: HttpRequest, application_id: str) -> HttpResponse:
    application = require_writable(request, application_id)
    form = WebhookForm(request.POST or None, initial={"event_types": ["*"]}, application=application)
    if request.method == "POST" and form.is_valid():
        with faults_shown(form, WEBHOOK_FIELDS):
            webhook, secret = create_webhook(application=application, values=form.values())
            return _reveal_secret(request, webhook, secret, _("Webhook created."))
    context = page_context(
        request, application, "webhooks", form=form, heading=_("Add a webhook"), verb=_("Add webhook")
    )
    return render(request, "applications/webhook_form.html", context)


@signed_in_form(dangerous(gettext_lazy("Change a webhook")))
def edit_webhook(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    """`seen` is the version the form was loaded with, so that two users do not overwrite each other."""
    application = require_writable(request, application_id)
    webhook = find_webhook(application, webhook_id)
    initial = {field: getattr(webhook, field) for field in WEBHOOK_FIELDS.values()}
    initial["seen"] = webhook_etag(webhook)
    form = ChangeWebhookForm(request.POST or None, initial=initial, application=application)
    if request.method == "POST" and form.is_valid():
        versions = [form.cleaned_data["seen"]] if form.cleaned_data["seen"] else []
        with faults_shown(form, WEBHOOK_FIELDS):
            change_webhook(webhook=webhook, values=form.values(), if_match=versions)
            messages.success(request, _("Changes saved."))
            return redirect(webhook_path(webhook))
    context = page_context(
        request, application, "webhooks", form=form, heading=_("Edit the webhook"), verb=_("Save changes")
    )
    return render(request, "applications/webhook_form.html", {**context, "webhook": webhook})


@signed_in_post(harmless)
def enable(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    webhook = find_webhook(require_writable(request, application_id), webhook_id)
    with errors_as_messages(request):
        enable_webhook(webhook=webhook)
        messages.success(request, _("Webhook enabled. You can recover the events it missed below."))
    return redirect(webhook_path(webhook))


@signed_in_form(dangerous(gettext_lazy("Replace the secret of a webhook")))
def rotate(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    webhook = find_webhook(require_writable(request, application_id), webhook_id)
    if request.method == "POST":
        with errors_as_messages(request):
            return _reveal_secret(request, webhook, rotate_secret(webhook=webhook), _("Secret replaced."))
        return redirect(webhook_path(webhook))
    warning = _(
        "You get a new secret, which is shown once. For 24 hours, events are signed with both secrets, so that you can "
        "update your endpoint without missing an event. After that the old secret is no longer used."
    )
    return render_confirmation(
        request,
        webhook.application,
        "webhooks",
        back=webhook_path(webhook),
        heading=_("Replace the secret?"),
        warning=warning,
        verb=_("Replace secret"),
    )


@signed_in_form(harmless)
def delete(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    application = require_writable(request, application_id)
    webhook = find_webhook(application, webhook_id)
    if request.method == "POST":
        with errors_as_messages(request):
            delete_webhook(webhook=webhook)
            messages.success(request, _("Webhook deleted."))
        return redirect("portal:application-webhooks", application.pk)
    warning = _("No more events are sent to %(url)s, and its delivery log is removed.") % {"url": webhook.url}
    return render_confirmation(
        request,
        application,
        "webhooks",
        back=webhook_path(webhook),
        heading=_("Delete this webhook?"),
        warning=warning,
        verb=_("Delete webhook"),
    )


def webhook_path(webhook: Webhook) -> str:
    return reverse("portal:webhook", args=[webhook.application_id, webhook.pk])


def take_secret(request: HttpRequest, webhook: Webhook) -> str:
    """The secret created a moment ago, once; then an empty text."""
    sealed = request.session.get(MADE)
    if not sealed or sealed["webhook"] != str(webhook.pk):
        return ""
    del request.session[MADE]
    return decrypt(sealed["secret"].encode())


def _reveal_secret(request: HttpRequest, webhook: Webhook, secret: str, message: str) -> HttpResponse:
    # Encrypted, because sessions are stored in the database.
    sealed = {"webhook": str(webhook.pk), "secret": encrypt(secret).decode()}
    request.session[MADE] = sealed
    messages.success(request, message)
    return redirect(webhook_path(webhook))
