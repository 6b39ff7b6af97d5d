"""The form of one operation: a field for each of its parameters, and its body."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from django import forms

from fulfillment.core.reference.operations import EXAMPLE_VALUES

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
PATH_VALUE = re.compile(r"[^/\x00-\x1f\x7f]+\Z")
LONGEST_BODY = 1_048_576
LONGEST_VALUE = 2000
PICTURE = "image/*"


class SendForm(forms.Form):
    caller = forms.ChoiceField(label="Send as")

    def __init__(
        self, operation: Mapping[str, Any], callers: list[tuple[str, str]], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.operation = operation
        field: Any = self.fields["caller"]
        field.choices = callers
        content = operation.get("requestBody", {}).get("content", {})
        for parameter in operation.get("parameters", ()):
            self.fields[_field_name(parameter)] = _field(parameter, callers)
        if "application/json" in content:
            examples = content["application/json"].get("examples", {})
            example = next(iter(examples.values()))["value"] if examples else {}
            self.fields["body"] = forms.CharField(
                label="Body (JSON)",
                required=operation["requestBody"].get("required", False),
                strip=False,
                max_length=LONGEST_BODY,
                initial=json.dumps(example, indent=2, ensure_ascii=False),
                widget=forms.Textarea(attrs={"class": "mono", "spellcheck": "false"}),
            )
        elif PICTURE in content:
            self.fields["picture"] = forms.FileField(
                label="Picture", widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg"})
            )

    @property
    def takes_file(self) -> bool:
        return "picture" in self.fields

    def clean(self) -> dict[str, Any]:
        cleaned = dict(super().clean() or {})
        for parameter in self.operation.get("parameters", ()):
            name = _field_name(parameter)
            value = cleaned.get(name, "")
            if not value:
                continue
            if parameter["in"] == "path" and not PATH_VALUE.match(value):
                self.add_error(name, "A value in the path has no slash and no control character.")
            elif CONTROL.search(value):
                self.add_error(name, "Control characters cannot be sent.")
        return cleaned

    def path(self, template: str) -> str:
        values = {one["name"]: self.cleaned_data[_field_name(one)] for one in self._in("path")}
        return re.sub(r"{(\w+)}", lambda found: values[found[1]], template)

    def query(self) -> str:
        pairs: list[tuple[str, str]] = []
        for one in self._in("query"):
            value = self.cleaned_data.get(_field_name(one), "")
            many = one["schema"].get("type") == "array"
            parts = value.split(",") if many else [value]
            pairs += [(one["name"], part.strip()) for part in parts if part.strip()]
        return urlencode(pairs)

    def headers(self) -> dict[str, str]:
        headers = {one["name"]: self.cleaned_data.get(_field_name(one), "") for one in self._in("header")}
        if self.takes_file:
            headers["Content-Type"] = self.cleaned_data["picture"].content_type or "application/octet-stream"
        elif self.content():
            headers["Content-Type"] = "application/json"
        # Header values must be Latin-1.
        return {
            name: value.encode("latin-1", "replace").decode("latin-1")
            for name, value in headers.items()
            if value
        }

    def content(self) -> bytes:
        if self.takes_file:
            return bytes(self.cleaned_data["picture"].read(LONGEST_BODY * 16))
        return str(self.cleaned_data.get("body", "")).encode()

    def _in(self, place: str) -> Iterator[Mapping[str, Any]]:
        return (one for one in self.operation.get("parameters", ()) if one["in"] == place)


def _field_name(parameter: Mapping[str, Any]) -> str:
    return f"{parameter['in']}-{parameter['name']}"


def _field(parameter: Mapping[str, Any], callers: list[tuple[str, str]]) -> forms.Field:
    schema, name = parameter["schema"], parameter["name"]
    kinds = schema.get("type", "")
    required = parameter["in"] == "path" or parameter.get("required", False)
    choices = ["true", "false"] if kinds == "boolean" else schema.get("enum", ())
    if choices and kinds != "array":
        options = [("", "Not sent"), *((str(value), str(value)) for value in choices)]
        return forms.ChoiceField(label=name, choices=options, required=required)
    initial = EXAMPLE_VALUES.get(name, "")
    if name == "applicationID":
        initial = next((key for key, _ in callers if key != "me"), "")
    elif name == "Idempotency-Key":
        initial = str(uuid4())
    help_text = "Separate values with commas." if kinds == "array" else ""
    return forms.CharField(
        label=name, required=required, initial=initial, max_length=LONGEST_VALUE, help_text=help_text
    )
