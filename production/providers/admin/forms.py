"""The form of a provider, with the settings that its adapter declares."""

from collections.abc import Callable, Sequence
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
from production.adapters.registry import adapter_kind
from production.providers.models import Provider
from production.providers.selectors.providers import provider_secrets
from production.providers.services.providers import ProviderValues, check_values
from production.settings_form import LongText

PREFIX = "setting_"
WIDGETS: Sequence[tuple[type[forms.Field], Callable[[], forms.Widget]]] = (
    (forms.BooleanField, UnfoldBooleanSwitchWidget),
    (forms.ChoiceField, UnfoldAdminSelectWidget),
    (forms.FloatField, UnfoldAdminDecimalFieldWidget),
    (forms.IntegerField, UnfoldAdminIntegerFieldWidget),
    (LongText, lambda: UnfoldAdminTextareaWidget(attrs={"rows": 4})),
    (forms.CharField, UnfoldAdminTextInputWidget),
)


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
        hidden = adapter_kind(self.adapter_kind).settings.secrets
        for name, shown in self.fields.items():
            setting = name.removeprefix(PREFIX)
            if name == setting:
                continue
            if setting not in hidden:
                shown.initial = _plain(self.instance.settings.get(setting, shown.initial))
            elif setting in secrets:
                shown.help_text = f"{shown.help_text} A value is stored; leave empty to keep it.".strip()
                shown.required = False

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
    form = adapter_kind(kind).settings
    # An instance has the fields in their order.
    fields = {
        PREFIX + name: _shown(field, is_secret=name in form.secrets)
        for name, field in form({}).fields.items()
    }
    return type("ProviderSettingsForm", (ProviderForm,), {"adapter_kind": kind, **fields})


def setting_names(kind: str) -> list[str]:
    return [PREFIX + name for name in adapter_kind(kind).settings({}).fields]


def _shown(field: forms.Field, *, is_secret: bool) -> forms.Field:
    """The field with the console's widget; one with a default may stay empty."""
    if is_secret and not isinstance(field, LongText):
        field.widget = UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"})
    else:
        field.widget = next(build for kind, build in WIDGETS if isinstance(field, kind))()
    if isinstance(field, forms.ChoiceField):
        field.widget.choices = field.choices
    field.widget.attrs.update(field.widget_attrs(field.widget))
    field.required = field.required and field.initial is None
    field.initial = _plain(field.initial)
    return field
