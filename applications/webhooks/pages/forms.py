from typing import Any

from django import forms

from applications.registration.pages.forms import LinesField
from applications.webhooks.event_types import PATTERNS, EventType

# The API's names of the fields.
WEBHOOK_FIELDS = {
    "URL": "url",
    "EventTypes": "event_types",
    "StoreIDs": "store_ids",
    "IsEnabled": "is_enabled",
}
RECOVER_FIELDS = {"Since": "since"}
EXPLAINED = {
    "*": "all events, including types added later",
    "order.*": "all events of orders",
    "association.*": "decisions on requests for access to a store",
    "webhook.*": "all events of webhooks",
}


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="Endpoint URL",
        max_length=2000,
        widget=forms.URLInput(attrs={"placeholder": "https://", "spellcheck": "false", "class": "mono"}),
        help_text="A public https URL. Events are sent to it as signed POST requests.",
    )
    event_types = forms.MultipleChoiceField(
        label="Events",
        choices=[(name, name) for name in (*PATTERNS, *EventType.values)],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Select at least one event type, or * for all."},
    )
    store_ids = LinesField(
        label="Stores",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false", "wrap": "off"}),
        help_text="One store ID per line. Leave empty to receive events from all stores.",
    )

    @property
    def choices_explained(self) -> list[dict[str, Any]]:
        return [
            {"box": box, "explained": EXPLAINED.get(box.data["value"], "")} for box in self["event_types"]
        ]

    def values(self) -> dict[str, Any]:
        """The form's values under the API's names."""
        return {
            name: self.cleaned_data[field]
            for name, field in WEBHOOK_FIELDS.items()
            if field in self.cleaned_data
        }


class ChangeWebhookForm(WebhookForm):
    is_enabled = forms.BooleanField(
        label="Enabled",
        required=False,
        help_text="A disabled webhook receives no events. They are kept for 30 days and can be recovered.",
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)


class RecoverForm(forms.Form):
    since = forms.DateTimeField(
        label="Since",
        widget=forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"}),
    )
