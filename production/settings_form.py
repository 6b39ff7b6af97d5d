"""The settings of an adapter as a Django form. It validates stored values as well as entered ones."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError

# Raises ValueError with what is wrong.
Check = Callable[[Any], object]
MAX_TEXT_LENGTH = 500
MAX_LONG_TEXT_LENGTH = 20_000


class SettingsForm(forms.Form):
    """An empty value counts as `initial`. Fields in `secrets` are kept encrypted and never shown again."""

    secrets: ClassVar[Collection[str]] = ()

    def __init__(self, values: Mapping[str, Any], *, has_secrets: bool = True) -> None:
        entered = {name: value for name, value in values.items() if value is not None and value != ""}
        defaults = {name: field.initial for name, field in self.base_fields.items()}
        super().__init__(defaults | entered)
        self._unknown = sorted(values.keys() - self.base_fields.keys())
        for name in () if has_secrets else self.secrets:
            del self.fields[name]

    def clean(self) -> dict[str, Any]:
        for name in self._unknown:
            self.add_error(None, f"There is no setting {name}.")
        return self.cleaned_data

    def check_saved(self) -> None:
        """Adds the mistakes that count only when a person saves the settings, such as a name that leads nowhere."""

    @property
    def mistakes(self) -> dict[str, str]:
        """The first mistake of each field."""
        return {name: str(errors[0]) for name, errors in self.errors.items()}

    def read(self) -> dict[str, Any]:
        """The values by name; raises ValueError with the first mistake."""
        for name, mistake in self.mistakes.items():
            raise ValueError(f"{name}: {mistake}")
        return dict(self.cleaned_data)


def rule(check: Check) -> Callable[[Any], None]:
    """A Django validator from a check."""

    def validate(value: Any) -> None:
        try:
            check(value)
        except ValueError as error:
            raise ValidationError(str(error)) from error

    return validate


def between(minimum: float, maximum: float) -> Callable[[Any], None]:
    def validate(value: float) -> None:
        if not minimum <= value <= maximum:
            raise ValidationError(f"It must lie between {minimum:g} and {maximum:g}.")

    return validate


class Text(forms.CharField):
    """A text of one line."""

    longest, control = MAX_TEXT_LENGTH, ""

    def __init__(self, *checks: Check, **options: Any) -> None:
        validators = [rule(check) for check in (self._refuse_controls, *checks)]
        super().__init__(max_length=self.longest, validators=validators, **options)

    def _refuse_controls(self, value: str) -> None:
        if any(ord(letter) < 32 and letter not in self.control for letter in value):
            raise ValueError("Control characters are not allowed.")


class LongText(Text):
    longest, control = MAX_LONG_TEXT_LENGTH, "\n\r\t"
    widget = forms.Textarea
