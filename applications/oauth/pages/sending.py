"""The form that sends a request of the API reference as the signed-in user. Keys and tokens stay in this process."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.pages.guards import signed_in_form, signed_in_user
from applications.oauth.services import credentials_for_one_request
from applications.registration.models import Application
from applications.registration.selectors.applications import applications_to_call_as
from fulfillment.core.api.inner_requests import InnerResponse, send_inner_request
from fulfillment.core.api.parsing import takes_large_forms
from fulfillment.core.http.dangerous import dangerous
from fulfillment.core.reference.operations import EXAMPLE_VALUES, Operation, operations
from fulfillment.core.reference.views import navigation

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
PATH_VALUE = re.compile(r"[^/\x00-\x1f\x7f]+\Z")
MAX_BODY_LENGTH = 1_048_576
MAX_VALUE_LENGTH = 2000
PICTURE = "image/*"
ME = "me"
# These reads show no secret, and proofs and prices change nothing. All others are dangerous.
HARMLESS_TAGS = {"Stores", "Products", "Proofs", "Orders", "Delivery", "Events and webhooks"}
HARMLESS = {"proof_create", "quote_create"}
SHOWN_HEADERS = (
    "Content-Type",
    "ETag",
    "Location",
    "Link",
    "X-Total-Count",
    "Retry-After",
    "Idempotent-Replayed",
    "RateLimit",
    "RateLimit-Policy",
    "WWW-Authenticate",
    "traceparent",
)
MAX_SHOWN_LENGTH = 200_000
MAX_PICTURE_BYTES = 1_000_000


class SendForm(forms.Form):
    caller = forms.ChoiceField(label=gettext_lazy("Send as"))

    def __init__(
        self, operation: Mapping[str, Any], callers: list[tuple[str, str]], *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.operation = operation
        field: Any = self.fields["caller"]
        field.choices = callers
        content = operation.get("requestBody", {}).get("content", {})
        for parameter in operation.get("parameters", ()):
            self.fields[_field_name(parameter)] = _make_field(parameter, callers)
        if "application/json" in content:
            examples = content["application/json"].get("examples", {})
            example = next(iter(examples.values()))["value"] if examples else {}
            self.fields["body"] = forms.CharField(
                label=_("Body (JSON)"),
                required=operation["requestBody"].get("required", False),
                strip=False,
                max_length=MAX_BODY_LENGTH,
                initial=json.dumps(example, indent=2, ensure_ascii=False),
                widget=forms.Textarea(attrs={"class": "mono", "spellcheck": "false"}),
            )
        elif PICTURE in content:
            self.fields["picture"] = forms.FileField(
                label=_("Picture"), widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg"})
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
                self.add_error(name, _("A path value must not contain a slash or a control character."))
            elif CONTROL.search(value):
                self.add_error(name, _("Control characters cannot be sent."))
        return cleaned

    def path(self, template: str) -> str:
        values = {
            parameter["name"]: self.cleaned_data[_field_name(parameter)]
            for parameter in self._parameters_in("path")
        }
        return re.sub(r"{(\w+)}", lambda match: values[match[1]], template)

    def query(self) -> str:
        pairs: list[tuple[str, str]] = []
        for parameter in self._parameters_in("query"):
            value = self.cleaned_data.get(_field_name(parameter), "")
            is_array = parameter["schema"].get("type") == "array"
            parts = value.split(",") if is_array else [value]
            pairs += [(parameter["name"], part.strip()) for part in parts if part.strip()]
        return urlencode(pairs)

    def headers(self) -> dict[str, str]:
        headers = {
            parameter["name"]: self.cleaned_data.get(_field_name(parameter), "")
            for parameter in self._parameters_in("header")
        }
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
            return bytes(self.cleaned_data["picture"].read(MAX_BODY_LENGTH * 16))
        return str(self.cleaned_data.get("body", "")).encode()

    def _parameters_in(self, location: str) -> Iterator[Mapping[str, Any]]:
        return (
            parameter for parameter in self.operation.get("parameters", ()) if parameter["in"] == location
        )


def _field_name(parameter: Mapping[str, Any]) -> str:
    return f"{parameter['in']}-{parameter['name']}"


def _make_field(parameter: Mapping[str, Any], callers: list[tuple[str, str]]) -> forms.Field:
    schema, name = parameter["schema"], parameter["name"]
    kinds = schema.get("type", "")
    required = parameter["in"] == "path" or parameter.get("required", False)
    choices = ["true", "false"] if kinds == "boolean" else schema.get("enum", ())
    if choices and kinds != "array":
        options = [("", _("Not sent")), *((str(value), str(value)) for value in choices)]
        return forms.ChoiceField(label=name, choices=options, required=required)
    initial = EXAMPLE_VALUES.get(name, "")
    if name == "applicationID":
        initial = next((key for key, _name in callers if key != "me"), "")
    elif name == "Idempotency-Key":
        initial = str(uuid4())
    help_text = _("Separate values with commas.") if kinds == "array" else ""
    return forms.CharField(
        label=name, required=required, initial=initial, max_length=MAX_VALUE_LENGTH, help_text=help_text
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """A response prepared for the page."""

    status: int
    reason: str
    milliseconds: int
    request_id: str
    headers: list[tuple[str, str]]
    text: str
    picture: str
    note: str

    @property
    def is_good(self) -> bool:
        return self.status < 400


def _describe_effect(request: HttpRequest, operation_id: str) -> str:
    operation = operations().get(operation_id)
    return (
        _("Send a request that changes data or reads keys") if operation and is_dangerous(operation) else ""
    )


@signed_in_form(dangerous(_describe_effect))
@takes_large_forms
def send_request(request: HttpRequest, operation_id: str) -> HttpResponse:
    operation = operations().get(operation_id)
    if operation is None:
        raise Http404(_("There is no operation %(operation_id)s.") % {"operation_id": operation_id[:80]})
    applications = applications_to_call_as(signed_in_user(request).pk)
    form = _make_form(request, operation, applications)
    response = None
    if request.method == "POST" and form.is_valid():
        response = _send(request, operation, form, applications)
    context = {"operation": operation, "form": form, "answer": response, "here": operation.url}
    return render(request, "reference/send.html", {**navigation(), **context})


def is_dangerous(operation: Operation) -> bool:
    reads = operation.method == "GET" and operation.tag in HARMLESS_TAGS
    return not reads and operation.id not in HARMLESS


def _make_form(request: HttpRequest, operation: Operation, applications: list[Application]) -> SendForm:
    person = (ME, f"{signed_in_user(request).full_name} (yourself)")
    callers = [(str(application.pk), application.name) for application in applications]
    closed = "Closed to applications" in operation.access
    callers = [person, *callers] if closed else [*callers, person]
    data = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    return SendForm(operation.raw, callers, *data)


def _send(
    request: HttpRequest, operation: Operation, form: SendForm, applications: list[Application]
) -> Shown:
    caller = form.cleaned_data["caller"]
    application = next((candidate for candidate in applications if str(candidate.pk) == caller), None)
    with credentials_for_one_request(
        user=signed_in_user(request), application=application, scopes=operation.scopes
    ) as credentials:
        response = send_inner_request(
            request,
            method=operation.method,
            path=form.path(operation.path),
            query=form.query(),
            headers={**form.headers(), **credentials},
            body=form.content(),
        )
    return _shown_response(response)


def _shown_response(response: InnerResponse) -> Shown:
    media = response.headers.get("Content-Type", "").partition(";")[0]
    text, picture, note = _read_body(response, media)
    traced = response.headers.get("traceparent", "").split("-")
    return Shown(
        status=response.status,
        reason=response.reason,
        milliseconds=max(1, round(response.milliseconds)),
        request_id=traced[1] if len(traced) == 4 else "",
        headers=[(name, response.headers[name]) for name in SHOWN_HEADERS if name in response.headers],
        text=text,
        picture=picture,
        note=note,
    )


def _read_body(response: InnerResponse, media: str) -> tuple[str, str, str]:
    """The text or picture URL to show, and a note if it was cut."""
    size = (
        _("%(body)s bytes") % {"body": number_format(len(response.body), force_grouping=True)}
        if response.is_whole
        else _("more than %(body)s bytes") % {"body": number_format(len(response.body), force_grouping=True)}
    )
    if not response.body:
        return "", "", _("No body.")
    if media in {"image/png", "image/jpeg"} and response.is_whole and len(response.body) <= MAX_PICTURE_BYTES:
        return "", f"data:{media};base64,{base64.b64encode(response.body).decode()}", size
    if not (media.startswith("text/") or media.endswith(("json", "xml"))):
        return "", "", _("%(size)s of %(media)s, which are not shown here.") % {"size": size, "media": media}
    text = response.body.decode("utf-8", "replace")
    if media.endswith("json") and response.is_whole:
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    if len(text) > MAX_SHOWN_LENGTH:
        return (
            text[:MAX_SHOWN_LENGTH],
            "",
            _("The first %(max_shown_length)s characters of %(size)s.")
            % {"max_shown_length": number_format(MAX_SHOWN_LENGTH, force_grouping=True), "size": size},
        )
    return (
        text,
        "",
        "" if response.is_whole else _("Only the beginning; the body has %(size)s.") % {"size": size},
    )
