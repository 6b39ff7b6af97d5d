"""The delivery log of a webhook, with resend, test and recovery."""

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import orjson
from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.pages.forms import faults_shown
from accounts.pages.guards import signed_in_form, signed_in_page, signed_in_post
from applications.registration.pages.frame import (
    page_context,
    require_access,
    require_readable,
    require_writable,
)
from applications.webhooks.event_types import EventType
from applications.webhooks.models import Delivery, DeliveryAttempt, DeliveryState, Webhook
from applications.webhooks.pages.webhooks import RECOVER_FIELDS, RecoverForm, take_secret, webhook_path
from applications.webhooks.selectors.deliveries import delivery_page, find_delivery
from applications.webhooks.selectors.signatures import (
    NAMES,
    headers_in,
    sent_body,
    sent_headers,
    verify_signature,
)
from applications.webhooks.selectors.webhooks import event_record, find_webhook
from applications.webhooks.services.deliveries import (
    recover_deliveries,
    resend_deliveries,
    resend_delivery,
    send_test_event,
)
from fulfillment.core.http.dangerous import harmless
from fulfillment.core.page_messages import errors_as_messages

DELIVERIES_A_PAGE = 25
# A page reloads itself while an attempt is due within this time; one under way holds a lease of 40 s.
SOON = timedelta(seconds=60)
MAX_ROW_ID = 2**63 - 1
UUID_FORM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_BODY_LENGTH, MAX_HEADERS_LENGTH = 100_000, 10_000
PLAIN = {"class": "mono", "spellcheck": "false", "wrap": "off"}


@signed_in_form(harmless)
def show_webhook(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    """GET shows the webhook and its log, `?state=` and `?before=` a part of it; POST recovers deliveries."""
    application = require_access(request, application_id)
    form = RecoverForm(initial={"since": timezone.now() - timedelta(days=1)})
    if request.method == "POST":
        form = RecoverForm(request.POST)
    webhook = find_webhook(application, webhook_id)
    if request.method == "POST" and form.is_valid() and _recover(request, webhook, form):
        return redirect(webhook_path(webhook))
    context = page_context(request, application, "webhooks", webhook=webhook, form=form)
    context |= _read_log(request, webhook)
    takes_secret = context["may_write"] and request.method != "HEAD"
    context["secret"] = take_secret(request, webhook) if takes_secret else ""
    return render(request, "applications/webhook.html", context)


@signed_in_page
def show_delivery(request: HttpRequest, application_id: str, webhook_id: str, event_id: str) -> HttpResponse:
    application = require_readable(request, application_id)
    webhook = find_webhook(application, webhook_id)
    delivery = find_delivery(webhook, event_id)
    context = page_context(request, application, "webhooks", webhook=webhook, delivery=delivery)
    context["payload"] = orjson.dumps(event_record(delivery.event), option=orjson.OPT_INDENT_2).decode()
    context["raw"] = sent_body(delivery).decode()
    context["attempts"] = [
        {"attempt": attempt, "headers": sent_headers(delivery, attempt)}
        for attempt in reversed(delivery.attempts.all())
    ]
    context["is_soon"] = (
        webhook.is_enabled and delivery.next_try is not None and delivery.next_try < timezone.now() + SOON
    )
    return render(request, "applications/delivery.html", context)


@signed_in_post(harmless)
def send_test(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    webhook = find_webhook(require_writable(request, application_id), webhook_id)
    with errors_as_messages(request):
        delivery = send_test_event(webhook=webhook)
        messages.success(request, _("Test event sent."))
        return redirect(_delivery_address(webhook, delivery))
    return redirect(webhook_path(webhook))


@signed_in_post(harmless)
def resend(request: HttpRequest, application_id: str, webhook_id: str, event_id: str) -> HttpResponse:
    webhook = find_webhook(require_writable(request, application_id), webhook_id)
    delivery = find_delivery(webhook, event_id)
    with errors_as_messages(request):
        resend_delivery(delivery=delivery)
        messages.success(request, _("Event resent. Failed attempts are retried as for a new event."))
    return redirect(_delivery_address(webhook, delivery))


@signed_in_post(harmless)
def resend_chosen(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    """Resends the deliveries selected in the log."""
    webhook = find_webhook(require_writable(request, application_id), webhook_id)
    event_ids = [value for value in request.POST.getlist("event") if UUID_FORM.fullmatch(value)]
    if not event_ids:
        messages.warning(request, _("Select at least one delivery."))
        return redirect(webhook_path(webhook))
    with errors_as_messages(request):
        count = resend_deliveries(webhook=webhook, event_ids=[UUID(value) for value in event_ids])
        messages.success(
            request, ngettext("%(count)s event resent.", "%(count)s events resent.", count) % {"count": count}
        )
    return redirect(webhook_path(webhook))


def _read_log(request: HttpRequest, webhook: Webhook) -> dict[str, Any]:
    requested_state, kind = request.GET.get("state", ""), request.GET.get("type", "")
    state = DeliveryState(requested_state) if requested_state in DeliveryState.values else None
    kind = kind if kind in EventType.values else ""
    number = request.GET.get("order", "").strip()[:40].replace("\x00", "")
    before = request.GET.get("before", "")
    key = int(before) if re.fullmatch(r"[0-9]{1,19}", before) and int(before) <= MAX_ROW_ID else None
    deliveries = delivery_page(
        webhook,
        state=state,
        event_type=kind or None,
        order_number=number or None,
        before=key,
        take=DELIVERIES_A_PAGE + 1,
    )
    page = deliveries[:DELIVERIES_A_PAGE]
    return {
        "deliveries": [{"delivery": each, "last": _last_attempt(list(each.attempts.all()))} for each in page],
        "state": state or "",
        "states": DeliveryState.choices,
        "kind": kind,
        "kinds": EventType.values,
        "number": number,
        "filtered": bool(state or kind or number),
        "older": page[-1].pk if len(deliveries) > DELIVERIES_A_PAGE else None,
        "is_later_page": key is not None,
    }


def _last_attempt(attempts: list[DeliveryAttempt]) -> DeliveryAttempt | None:
    return attempts[-1] if attempts else None


def _recover(request: HttpRequest, webhook: Webhook, form: RecoverForm) -> bool:
    with faults_shown(form, RECOVER_FIELDS):
        count = recover_deliveries(webhook=webhook, since=form.cleaned_data["since"])
        if count:
            message = ngettext("Recovering %(count)s event.", "Recovering %(count)s events.", count)
            messages.success(request, message % {"count": number_format(count, force_grouping=True)})
        else:
            messages.info(request, _("No events were missed since then."))
    return form.is_valid()


def _delivery_address(webhook: Webhook, delivery: Delivery) -> str:
    return reverse("portal:delivery", args=[webhook.application_id, webhook.pk, delivery.event.event_id])


class SignatureForm(forms.Form):
    headers = forms.CharField(
        label=gettext_lazy("Headers"),
        max_length=MAX_HEADERS_LENGTH,
        widget=forms.Textarea(attrs={**PLAIN, "rows": 4}),
        help_text=gettext_lazy(
            "webhook-id, webhook-timestamp and webhook-signature, one per line. Other headers are ignored."
        ),
    )
    body = forms.CharField(
        label=gettext_lazy("Body"),
        max_length=MAX_BODY_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={**PLAIN, "rows": 8}),
        help_text=gettext_lazy("The raw request body, unchanged."),
    )

    def clean_body(self) -> str:
        # Browsers send line ends as CR LF.
        return str(self.cleaned_data["body"]).replace("\r\n", "\n")


@signed_in_form(harmless)
def check_signature(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    webhook = find_webhook(require_writable(request, application_id), webhook_id)
    form = SignatureForm(request.POST or None)
    context = page_context(request, webhook.application, "webhooks", webhook=webhook, form=form)
    if request.method == "POST" and form.is_valid():
        context["verdict"] = verify_signature(
            webhook,
            body=form.cleaned_data["body"],
            headers=headers_in(form.cleaned_data["headers"]),
            now=timezone.now(),
        )
    elif request.method != "POST":
        form.initial = _find_latest_request(webhook)
    return render(request, "applications/signature.html", context)


def _find_latest_request(webhook: Webhook) -> dict[str, str]:
    """The latest request sent, as a valid example."""
    for delivery in delivery_page(webhook, take=1):
        for attempt in reversed(delivery.attempts.all()):
            headers = sent_headers(delivery, attempt)
            lines = [f"{name}: {headers[name]}" for name in NAMES if name in headers]
            return {"headers": "\n".join(lines), "body": sent_body(delivery).decode()}
    return {}
