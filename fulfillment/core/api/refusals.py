"""Refusals that list what the rules of a service find beside the mistakes of the form."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rest_framework.exceptions import ValidationError

from fulfillment.core.api.errors import counted_faults
from fulfillment.core.api.serializers import StrictSerializer
from fulfillment.core.errors import Fault, Invalid

Values = Mapping[str, Any]


def checked_values(
    form_class: type[StrictSerializer], data: Any, faults_of: Callable[[Values], Iterable[Fault]]
) -> dict[str, Any]:
    """The values of a body; raises its mistakes together with what `faults_of` finds in members without one."""
    form = form_class(data=data)
    try:
        form.is_valid(raise_exception=True)
    except ValidationError as refusal:
        faults = counted_faults(refusal.detail)
        readable = _readable(form, data, refusal.detail)
        for fault in faults_of(readable) if readable else ():
            member = fault.pointer.removeprefix("/").partition("/")[0]
            if member in readable and faults.count_one():
                faults.listed.append(fault)
        raise Invalid(
            faults.summary, code="invalid_body", faults=faults.listed, fault_count=faults.count
        ) from refusal
    values: dict[str, Any] = form.validated_data
    return values


def _readable(form: StrictSerializer, data: Any, mistakes: Any) -> dict[str, Any]:
    """The values of the members that have no mistake."""
    if not isinstance(data, Mapping) or not isinstance(mistakes, Mapping):
        return {}
    return {
        name: field.run_validation(data[name])
        for name, field in form.fields.items()
        if not field.read_only and data.get(name) is not None and name not in mistakes
    }
