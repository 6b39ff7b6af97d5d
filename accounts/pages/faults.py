from collections.abc import Mapping

from django import forms

from fulfillment.errors import DomainError


def show_faults(form: forms.Form, error: DomainError, fields: Mapping[str, str]) -> None:
    """Puts what a service refused beside the fields; `fields` names the form field of each contract name."""
    for fault in error.faults:
        name = fields.get(fault.pointer.lstrip("/").split("/")[0])
        form.add_error(name, fault.message)
    if not error.faults:
        form.add_error(None, error.message)
