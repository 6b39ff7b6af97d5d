from collections.abc import Mapping

from django import forms

from fulfillment.core.errors import DomainError


def show_faults(form: forms.Form, error: DomainError, fields: Mapping[str, str]) -> None:
    """Shows the faults of a service at the form fields; `fields` maps the API's names to them.

    The contract's name before a message is left out there: the field has a label.
    """
    for fault in error.faults:
        member = fault.pointer.lstrip("/").split("/")[0]
        name = fields.get(member)
        form.add_error(name, fault.message.removeprefix(f"{member}: ") if name else fault.message)
    if not error.faults:
        form.add_error(None, error.message)
