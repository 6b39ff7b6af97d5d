"""Strict serializers: exact types, no unknown names."""

import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.fields import empty

from fulfillment.core.errors import MAX_LISTED, UNLISTED
from fulfillment.core.text import has_control_character, timestamp
from printing.text import did_you_mean, is_blank

# No member has this name, because the parser refuses NUL.
NO_NAME = "\0"
# DRF's message for null as body.
NO_DATA = {"non_field_errors": [ErrorDetail("No data provided", code="null")]}


class StrictText(serializers.CharField):
    """One line of visible text; with `multiline`, several."""

    default_error_messages = {
        "invalid": "This must be a string.",
        "control_character": "This contains a control character.",
    }

    def __init__(self, *, multiline: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.multiline = multiline

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        value = super().to_internal_value(data)
        if has_control_character(value, multiline=self.multiline):
            self.fail("control_character")
        if not self.allow_blank and is_blank(value):
            self.fail("blank")
        return value


class StrictFlag(serializers.BooleanField):
    default_error_messages = {"invalid": "This must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class StrictChoice(serializers.ChoiceField):
    """Lists the allowed values in its error."""

    default_error_messages = {"invalid_choice": "Write one of {allowed}."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", allowed=", ".join(map(str, self.choices)))
        return data


class StrictInteger(serializers.IntegerField):
    default_error_messages = {"invalid": "This must be a whole number."}

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictList(serializers.ListField):
    """An array; too long ones are refused before their elements are checked."""

    def to_internal_value(self, data: Any) -> list[Any]:
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        values: list[Any] = super().to_internal_value(data)
        return values


class Timestamp(serializers.DateTimeField):
    """ISO 8601 in, with an offset or in UTC; UTC with Z out."""

    default_error_messages = {
        "invalid": "This must be an ISO 8601 date and time, for example 2026-03-01T12:00:00Z.",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(default_timezone=UTC, **kwargs)

    def to_internal_value(self, value: Any) -> datetime:
        moment: datetime | None = None
        if isinstance(value, str) and value.isascii():
            with suppress(OverflowError, ValueError):
                moment = super().to_internal_value(value).astimezone(UTC)
        if moment is None:
            raise serializers.ValidationError(self.error_messages["invalid"], code="invalid")
        return moment

    def to_representation(self, value: datetime | None) -> str | None:
        return timestamp(value) if value else None


class Meta(serializers.Serializer):
    """Informational or error messages about a record."""

    Messages = serializers.ListField(child=serializers.CharField())


class StrictSerializer(serializers.Serializer):
    """Refuses unknown names, and reports them together with all other mistakes.

    Names of read-only fields may be sent back and are ignored. With `ignored_nulls`, a null keeps the existing
    value, as the contract's partial updates want it.
    """

    ignored_nulls = False
    # For the schema only; the view describes them.
    one_of_these_required: tuple[str, ...] = ()
    default_error_messages = {
        "unknown_field": "There is no field of this name. Allowed: {allowed}.",
        "invalid": "This must be a JSON object.",
    }

    def run_validation(self, data: Any = empty) -> Any:
        if self.parent is None:
            self.names_left = MAX_LISTED
        if self.ignored_nulls and isinstance(data, Mapping):
            fields = self.fields
            data = {name: value for name, value in data.items() if value is not None or name not in fields}
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            detail = ErrorDetail(self.error_messages["invalid"], code="invalid")
            raise serializers.ValidationError({"non_field_errors": [detail]})
        names = {*self.fields, "_meta"}
        unknown = [name for name in data if name not in names]
        if not unknown:
            return self._read_data(data)
        raise serializers.ValidationError({**self._refuse_unknown(unknown), **self._other_mistakes(data)})

    def mistakes_across(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What is wrong with members together; one that cannot be read is None."""
        return {}

    def validate(self, attrs: Any) -> Any:
        if mistakes := self.mistakes_across(attrs):
            raise serializers.ValidationError(mistakes)
        return attrs

    def _read_data(self, data: Mapping[str, Any]) -> Any:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError as refusal:
            values = {
                name: None if name in refusal.detail else field.run_validation(data[name])
                for name, field in self.fields.items()
                if name in data and not field.read_only
            }
            mistakes = self.mistakes_across(values)
            raise serializers.ValidationError({**mistakes, **refusal.detail}) from refusal

    def _refuse_unknown(self, names: list[str]) -> dict[str, list[ErrorDetail]]:
        """Messages for the first unknown names; the number of all others is stored under a reserved name."""
        remaining = getattr(self.root, "names_left", MAX_LISTED)
        listed = names[:remaining]
        writable = [name for name, field in self.fields.items() if not field.read_only]
        message = self.error_messages["unknown_field"].format(allowed=", ".join(writable))
        near = did_you_mean(listed, writable)
        errors = {name: [ErrorDetail(message + near.get(name, ""), code="unknown_field")] for name in listed}
        self.root.names_left = remaining - len(listed)
        if len(names) > len(listed):
            errors[NO_NAME] = [ErrorDetail(str(len(names) - len(listed)), code=UNLISTED)]
        return errors

    def _other_mistakes(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The faults of the fields or, if they are valid, of the rules across fields."""
        try:
            values = self._read_data(data)
            self.run_validators(values)
            self.validate(values)
        except (serializers.ValidationError, DjangoValidationError) as error:
            mistakes: dict[str, Any] = serializers.as_serializer_error(error)
            return mistakes
        return {}


class _Forms(threading.local):
    def __init__(self) -> None:
        self.instances: dict[type, serializers.Serializer] = {}


_forms = _Forms()


def validate_data(form: type[serializers.Serializer], data: Any) -> Any:
    """Returns what the form makes of `data`; raises ValidationError with every fault.

    Making a form copies each of its fields, which takes longer than all its checks: one is kept for each thread.
    """
    if form not in _forms.instances:
        _forms.instances[form] = form()
    try:
        return _forms.instances[form].run_validation(data)
    except serializers.ValidationError as error:
        if error.get_codes() == ["null"]:
            raise serializers.ValidationError(NO_DATA) from error
        raise
