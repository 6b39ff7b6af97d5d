"""Checks the signature of a received request and explains why it is invalid."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from accounts.pages.guards import signed_in
from applications.registration.pages.frame import frame, writable
from applications.webhooks.models import Webhook
from applications.webhooks.selectors.deliveries import delivery_page
from applications.webhooks.selectors.signatures import (
    NAMES,
    headers_in,
    sent_body,
    sent_headers,
    verify_signature,
)
from applications.webhooks.selectors.webhooks import find_webhook
from fulfillment.core.http.dangerous import harmless

MAX_BODY_LENGTH, MAX_HEADERS_LENGTH = 100_000, 10_000
PLAIN = {"class": "mono", "spellcheck": "false", "wrap": "off"}


class SignatureForm(forms.Form):
    headers = forms.CharField(
        label=_("Headers"),
        max_length=MAX_HEADERS_LENGTH,
        widget=forms.Textarea(attrs={**PLAIN, "rows": 4}),
        help_text=_(
            "webhook-id, webhook-timestamp and webhook-signature, one per line. Other headers are ignored."
        ),
    )
    body = forms.CharField(
        label=_("Body"),
        max_length=MAX_BODY_LENGTH,
        strip=False,
        widget=forms.Textarea(attrs={**PLAIN, "rows": 8}),
        help_text=_("The raw request body, unchanged."),
    )

    def clean_body(self) -> str:
        # Browsers send line ends as CR LF.
        return str(self.cleaned_data["body"]).replace("\r\n", "\n")


@harmless
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def check_signature(request: HttpRequest, application_id: str, webhook_id: str) -> HttpResponse:
    webhook = find_webhook(writable(request, application_id), webhook_id)
    form = SignatureForm(request.POST or None)
    context = frame(request, webhook.application, "webhooks", webhook=webhook, form=form)
    if request.method == "POST" and form.is_valid():
        context["verdict"] = verify_signature(
            webhook,
            body=form.cleaned_data["body"],
            headers=headers_in(form.cleaned_data["headers"]),
            now=timezone.now(),
        )
    elif request.method != "POST":
        form.initial = _latest(webhook)
    return render(request, "applications/signature.html", context)


def _latest(webhook: Webhook) -> dict[str, str]:
    """The latest request sent, as a valid example."""
    for delivery in delivery_page(webhook, take=1):
        for attempt in reversed(delivery.attempts.all()):
            headers = sent_headers(delivery, attempt)
            lines = [f"{name}: {headers[name]}" for name in NAMES if name in headers]
            return {"headers": "\n".join(lines), "body": sent_body(delivery).decode()}
    return {}
