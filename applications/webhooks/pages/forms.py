from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from applications.registration.models import Application
from applications.registration.selectors.applications import store_names
from applications.webhooks.event_types import EVERYTHING, PATTERNS, EventType, matches_pattern
from fulfillment.core.recorded_texts import translated

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
        kept = {name: name for name in self.initial.get("store_ids", ()) if name not in names}
        field: Any = self.fields["store_ids"]
        field.choices = [*names.items(), *kept.items()]

    @property
    def event_groups(self) -> list[dict[str, Any]]:
        """The choice of a whole group, then those of its types."""
        boxes = {str(box.data["value"]): box for box in self["event_types"]}
        return [
            {
                "whole": boxes[pattern],
                "label": GROUPS[pattern],
                "types": [
                    (boxes[one], translated(one.label).replace("`", ""))
                    for one in EventType
                    if matches_pattern(pattern, one)
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
