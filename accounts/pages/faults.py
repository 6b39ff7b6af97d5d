from collections.abc import Mapping

from django import forms

from fulfillment.core.errors import DomainError
from fulfillment.core.faults import faults_at_fields


def show_faults(form: forms.Form, error: DomainError, fields: Mapping[str, str]) -> None:
    """Shows the faults of a service at the form fields; `fields` maps the API's names to them."""
    placed, others = faults_at_fields(error, {f"/{name}" if name else "": of for name, of in fields.items()})
    for name, messages in placed.items():
        form.add_error(name, messages)
    if others:
        form.add_error(None, others)
