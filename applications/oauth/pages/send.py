"""Sends a request of the API reference as the signed-in user; keys and tokens stay in this process."""

import base64
import json
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from accounts.pages.guards import signed_in, signed_in_user
from applications.oauth.pages.send_form import SendForm
from applications.oauth.services.own_requests import credentials_for_one_request
from applications.registration.models import Application
from applications.registration.selectors.applications import applications_to_call_as
from fulfillment.core.api.form_limits import takes_large_forms
from fulfillment.core.api.inner_requests import InnerAnswer, answer_within
from fulfillment.core.http.dangerous import dangerous
from fulfillment.core.reference.operations import Operation, operations, raw_operation
from fulfillment.core.reference.views import navigation

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
LONGEST_SHOWN = 200_000
LARGEST_PICTURE = 1_000_000


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


def _effect(request: HttpRequest, operation_id: str) -> str:
    operation = operations().get(operation_id)
    return "Send a request that changes data or reads keys" if operation and is_dangerous(operation) else ""


@dangerous(_effect)
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@takes_large_forms
def send_request(request: HttpRequest, operation_id: str) -> HttpResponse:
    operation, raw = operations().get(operation_id), raw_operation(operation_id)
    if operation is None or raw is None:
        raise Http404(f"There is no operation {operation_id[:80]}.")
    applications = applications_to_call_as(signed_in_user(request).pk)
    form = _form(request, operation, raw, applications)
    answer = None
    if request.method == "POST" and form.is_valid():
        answer = _answer(request, operation, form, applications)
    context = {"operation": operation, "form": form, "answer": answer, "here": operation.url}
    return render(request, "reference/send.html", {**navigation(), **context})


def is_dangerous(operation: Operation) -> bool:
    reads = operation.method == "GET" and operation.tag in HARMLESS_TAGS
    return not reads and operation.id not in HARMLESS


def _form(
    request: HttpRequest, operation: Operation, raw: dict[str, Any], applications: list[Application]
) -> SendForm:
    person = (ME, f"{signed_in_user(request).full_name} (yourself)")
    callers = [(str(one.pk), one.name) for one in applications]
    closed = "Closed to applications" in operation.access
    callers = [person, *callers] if closed else [*callers, person]
    data = (request.POST, request.FILES) if request.method == "POST" else (None, None)
    return SendForm(raw, callers, *data)


def _answer(
    request: HttpRequest, operation: Operation, form: SendForm, applications: list[Application]
) -> Shown:
    chosen = form.cleaned_data["caller"]
    application = next((one for one in applications if str(one.pk) == chosen), None)
    with credentials_for_one_request(
        user=signed_in_user(request), application=application, scopes=operation.scopes
    ) as credentials:
        answer = answer_within(
            request,
            method=operation.method,
            path=form.path(operation.path),
            query=form.query(),
            headers={**form.headers(), **credentials},
            body=form.content(),
        )
    return _shown(answer)


def _shown(answer: InnerAnswer) -> Shown:
    media = answer.headers.get("Content-Type", "").partition(";")[0]
    text, picture, note = _body(answer, media)
    traced = answer.headers.get("traceparent", "").split("-")
    return Shown(
        status=answer.status,
        reason=answer.reason,
        milliseconds=max(1, round(answer.milliseconds)),
        request_id=traced[1] if len(traced) == 4 else "",
        headers=[(name, answer.headers[name]) for name in SHOWN_HEADERS if name in answer.headers],
        text=text,
        picture=picture,
        note=note,
    )


def _body(answer: InnerAnswer, media: str) -> tuple[str, str, str]:
    """The text or picture URL to show, and a note if it was cut."""
    size = f"{len(answer.body):,} bytes" if answer.is_whole else f"more than {len(answer.body):,} bytes"
    if not answer.body:
        return "", "", "No body."
    if media in {"image/png", "image/jpeg"} and answer.is_whole and len(answer.body) <= LARGEST_PICTURE:
        return "", f"data:{media};base64,{base64.b64encode(answer.body).decode()}", size
    if not (media.startswith("text/") or media.endswith(("json", "xml"))):
        return "", "", f"{size} of {media}, which are not shown here."
    text = answer.body.decode("utf-8", "replace")
    if media.endswith("json") and answer.is_whole:
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    if len(text) > LONGEST_SHOWN:
        return text[:LONGEST_SHOWN], "", f"The first {LONGEST_SHOWN:,} characters of {size}."
    return text, "", "" if answer.is_whole else f"Of {size}, the first."
