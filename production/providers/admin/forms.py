"""The form of a provider, with the settings that its adapter declares."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminPasswordWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from fulfillment.core.errors import DomainError, Invalid
from production.adapters.registry import setting_fields
from production.providers.models import Provider
from production.providers.selectors.providers import provider_secrets
from production.providers.services.providers import ProviderValues, check_values
from production.settings_schema import SettingField

PREFIX = "setting_"


class ProviderForm(forms.ModelForm):
    """`adapter_kind` is set by `provider_form`. The service checks the settings."""

    adapter_kind = ""

    class Meta:
        model = Provider
        fields = ["name", "code", "is_enabled", "daily_capacity"]
        help_texts = {
            "code": "A short name for addresses and filters: 1 to 40 lowercase letters, digits and hyphens."
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        stored = self.instance.pk is not None
        secrets = provider_secrets(self.instance) if stored else {}
        for field in setting_fields(self.adapter_kind):
            shown = self.fields.get(PREFIX + field.name)
            if shown is None:
                continue
            if field.secret:
                kept = "A value is stored; leave empty to keep it." if field.name in secrets else ""
                shown.help_text = f"{field.help} {kept}".strip()
                shown.required = shown.required and field.name not in secrets
            else:
                shown.initial = _plain(self.instance.settings.get(field.name, field.default))

    @property
    def values(self) -> ProviderValues:
        clean = self.cleaned_data
        settings = {
            name.removeprefix(PREFIX): value for name, value in clean.items() if name.startswith(PREFIX)
        }
        return ProviderValues(
            code=clean.get("code", ""),
            name=clean.get("name", ""),
            adapter=self.adapter_kind,
            settings={name: value for name, value in settings.items() if value is not None},
            is_enabled=clean.get("is_enabled", False),
            daily_capacity=clean.get("daily_capacity"),
        )

    def clean(self) -> dict[str, Any]:
        """Settings are checked beside wrong fields as well, so that all faults are shown at once."""
        cleaned = super().clean() or self.cleaned_data
        known = set(self.errors)
        try:
            check_values(values=self.values, provider=self.instance if self.instance.pk else None)
        except Invalid as error:
            for fault in error.faults:
                name = PREFIX + fault.pointer.removeprefix("/settings/")
                if name not in known:
                    self.add_error(name if name in self.fields else None, fault.message)
        except DomainError as error:
            self.add_error(None, error.message)
        return cleaned


def _plain(value: Any) -> Any:
    """450, and not 450.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def provider_form(kind: str) -> type[ProviderForm]:
    """A form class with a field for each setting of this adapter."""
    fields = {PREFIX + field.name: _form_field(field) for field in setting_fields(kind)}
    return type("SettingsForm", (ProviderForm,), {"adapter_kind": kind, **fields})


def setting_names(kind: str) -> list[str]:
    return [PREFIX + field.name for field in setting_fields(kind)]


def _form_field(field: SettingField) -> forms.Field:
    common: dict[str, Any] = {
        "label": field.label,
        "help_text": field.help,
        "required": field.required and field.default is None,
        "initial": _plain(field.default),
    }
    if field.secret and field.kind == "long_text":
        return forms.CharField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 6}), strip=True, **common)
    if field.secret:
        widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"})
        return forms.CharField(widget=widget, **common)
    if field.kind == "boolean":
        return forms.BooleanField(widget=UnfoldBooleanSwitchWidget, **{**common, "required": False})
    if field.kind == "choice":
        return forms.ChoiceField(choices=list(field.choices), widget=UnfoldAdminSelectWidget, **common)
    if field.kind == "integer":
        return forms.IntegerField(widget=UnfoldAdminIntegerFieldWidget, **common)
    if field.kind == "decimal":
        return forms.FloatField(widget=UnfoldAdminDecimalFieldWidget, **common)
    if field.kind == "long_text":
        return forms.CharField(widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}), **common)
    return forms.CharField(widget=UnfoldAdminTextInputWidget, **common)
