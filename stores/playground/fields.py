"""The form for a product's template fields, and its submitted values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.core.files.uploadedfile import UploadedFile

from fulfillment.core.errors import DomainError
from printing.typesetting.fields import ALL_VALUES_BYTES
from stores.playground.selectors.products import ProductPage
from stores.proofs.services.live_proofs import SAMPLES

# Form controls by SubType; all others are a line of text.
CONTROLS = {"MultiLine": "area", "List": "select", "Gallery": "select", "Upload": "picture"}
INPUT_TYPES = {"Email": "email", "Phone": "tel", "Date": "date"}
HINTS = {
    "Email": "An e-mail address.",
    "Phone": "A phone number: digits, spaces and + ( ) - . / only.",
    "Url": "A web address such as example.com.",
    "Date": "A date.",
    "Upload": "PNG or JPEG, at most 10 MB and 50 megapixels.",
}


@dataclass(slots=True)
class FormField:
    """`control` is the kind of input; `shape` is width by height of the picture's place."""

    index: int
    record: dict[str, Any]
    value: str = ""
    shape: float = 1.0
    errors: list[str] = field(default_factory=list)

    @property
    def input_name(self) -> str:
        return f"field-{self.index}"

    @property
    def name(self) -> str:
        return str(self.record["FieldName"])

    @property
    def label(self) -> str:
        return str(self.record["Prompt"] or self.record["FieldName"])

    @property
    def control(self) -> str:
        return CONTROLS.get(self.record["SubType"], "line")

    @property
    def input_type(self) -> str:
        return INPUT_TYPES.get(self.record["SubType"], "text")

    @property
    def hint(self) -> str:
        return HINTS.get(self.record["SubType"], "")

    @property
    def default(self) -> str:
        return str(self.record["OrgValue"] or self.record["DefaultValue"] or "")


def form_fields(product: ProductPage, sent: Mapping[str, str] | None) -> list[FormField]:
    """The fields with submitted values; at first with defaults, and examples for required fields without one."""
    fields = [
        FormField(index, record, shape=product.shapes.get(record["FieldName"], 1.0))
        for index, record in enumerate(product.record.get("TemplateFields", ()))
    ]
    for one in fields:
        one.value = _first_value(one) if sent is None else sent.get(one.input_name, "")[:ALL_VALUES_BYTES]
    return fields


def template_data(fields: list[FormField]) -> dict[str, str]:
    """The values to send. Empty fields are omitted unless that would restore a default; pictures keep their asset."""
    return {one.name: one.value for one in fields if one.value or (one.default and one.control != "picture")}


def show_errors(fields: list[FormField], error: DomainError, place: str = "") -> list[str]:
    """Shows each fault at its field; returns the faults that belong to no field."""
    named = {f"{place}/{_pointer(one.name)}": one for one in fields}
    others = []
    for fault in error.faults:
        one = named.get(fault.pointer)
        if one is None:
            others.append(fault.message)
        else:
            one.errors.append(_in_its_label(fault.message, one))
    return others if error.faults else [error.message]


def chosen_files(fields: list[FormField], files: Mapping[str, Any]) -> dict[str, UploadedFile]:
    """The pictures that came with the form itself, by the names of their fields."""
    return {
        one.name: file
        for one in fields
        if one.control == "picture" and (file := files.get(f"file-{one.index}")) is not None
    }


def _first_value(one: FormField) -> str:
    if one.control == "picture":
        return ""
    if one.default:
        return one.default
    if one.control == "select":
        choices = one.record.get("Choices") or [""]
        return str(choices[0]) if one.record["Required"] else ""
    sample = SAMPLES.get(one.name) or SAMPLES.get(one.record["SubType"], "")
    return sample or (one.label if one.record["Required"] else "")


def _pointer(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _in_its_label(message: str, one: FormField) -> str:
    """The API names the field; the form shows its label above."""
    rest = message.removeprefix(one.name).strip()
    return f"{one.label} {rest}" if rest != message else message
