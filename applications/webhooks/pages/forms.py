from typing import Any

from django import forms

from applications.registration.pages.forms import LinesField
from applications.webhooks.models.event_type import PATTERNS, EventType

# The contract's names, and the fields that hold them here.
WEBHOOK_FIELDS = {
    "URL": "url",
    "EventTypes": "event_types",
    "StoreIDs": "store_ids",
    "IsEnabled": "is_enabled",
}
RECOVER_FIELDS = {"Since": "since"}
EXPLAINED = {
    "*": "everything, also what is added later",
    "order.*": "everything about orders",
    "association.*": "every answer to a request for a store",
    "webhook.*": "everything about webhooks",
}


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="URL",
        max_length=2000,
        widget=forms.URLInput(attrs={"placeholder": "https://", "spellcheck": "false", "class": "mono"}),
        help_text="A public https address. Every event is sent there as a signed POST.",
    )
    event_types = forms.MultipleChoiceField(
        label="Events",
        choices=[(name, name) for name in (*PATTERNS, *EventType.values)],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one; * stands for all."},
    )
    store_ids = LinesField(
        label="Only these stores",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false", "wrap": "off"}),
        help_text="Store IDs, one a line. Leave it empty for every store.",
    )

    @property
    def choices_explained(self) -> list[dict[str, Any]]:
        return [
            {"box": box, "explained": EXPLAINED.get(box.data["value"], "")} for box in self["event_types"]
        ]

    def values(self) -> dict[str, Any]:
        """Under the contract's names, only what this form asks."""
        return {
            name: self.cleaned_data[field]
            for name, field in WEBHOOK_FIELDS.items()
            if field in self.cleaned_data
        }


class ChangeWebhookForm(WebhookForm):
    is_enabled = forms.BooleanField(
        label="Enabled",
        required=False,
        help_text="While it is disabled nothing is sent; events are kept for 30 days and can be recovered.",
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)


class RecoverForm(forms.Form):
    since = forms.DateTimeField(
        label="Since",
        widget=forms.DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"}),
    )
