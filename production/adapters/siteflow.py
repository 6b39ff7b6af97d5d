"""HP Site Flow (OneFlow): orders over HTTPS, signed; reports come as postbacks."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from django import forms

from fulfillment.core.text import storable
from fulfillment.core.web_addresses import web_address
from production.adapters.http import ProviderResponse, failure, send_json, url_refusal
from production.adapters.registry import register
from production.adapters.siteflow_orders import read_mapping, siteflow_headers, siteflow_order
from production.adapters.siteflow_postbacks import DUPLICATE, read_postbacks
from production.interface import (
    AdapterJob,
    Exchange,
    Ledger,
    ProviderRefused,
    ProviderUnavailable,
    Report,
    Submitted,
)
from production.settings_form import LongText, SettingsForm, Text, between
from production.tickets.reports import read_json

ITEM_AT_FAULT = re.compile(r"\bitems[\[.](\d{1,4})\b")
ALREADY_CANCELLED = ("already cancel", "already been cancel")


def _check_url(url: str) -> None:
    parts = web_address(url)
    if not parts or parts.query or parts.fragment:
        raise ValueError("Write an address such as https://pro-api.oneflowcloud.com.")


class SiteFlowSettings(SettingsForm):
    secrets = ("secret",)

    url = Text(
        _check_url,
        label="Address of the API",
        initial="https://pro-api.oneflowcloud.com",
        help_text="Without /api.",
    )
    order_url = Text(
        _check_url,
        label="Address for new orders",
        required=False,
        help_text="Where it differs, such as https://orders.oneflow.io. Empty: the address of the API.",
    )
    token = Text(label="Token")
    secret = Text(label="Secret")
    headers = forms.ChoiceField(
        label="Headers",
        initial="oneflow",
        choices=(("oneflow", "x-oneflow-* (Site Flow)"), ("hp", "x-hp-hmac-* (PrintOS)")),
    )
    destination = Text(label="Destination", help_text="The account that prints, as Site Flow names it.")
    account = Text(
        label="Source account",
        required=False,
        help_text="The account that orders. It is needed to cancel by job number. Empty: jobs are "
        "cancelled by Site Flow's own number.",
    )
    component_code = Text(
        label="Component code",
        initial="body",
        help_text="For products that the table below does not name.",
    )
    products = LongText(
        read_mapping,
        label="Products",
        required=False,
        help_text="One per line: our SKU or product ID = SKU of Site Flow / component code.",
    )
    carriers = LongText(
        read_mapping,
        label="Carriers",
        required=False,
        help_text="One per line: our delivery method = carrier code / service, or = alias.",
    )
    attributes = LongText(
        read_mapping,
        label="Attributes",
        required=False,
        help_text="Options of products that Site Flow takes as attributes, one per line: our name = theirs.",
    )
    validate = forms.BooleanField(
        label="Validate first",
        required=False,
        initial=True,
        help_text="Let Site Flow check each order before it is sent.",
    )
    time_limit = forms.IntegerField(
        label="Time limit", initial=30, help_text="Seconds.", validators=[between(2, 120)]
    )

    def check_saved(self) -> None:
        for name in ("url", "order_url"):
            if mistake := url_refusal(self.cleaned_data[name]):
                self.add_error(name, mistake)


@register(
    "siteflow",
    label="HP Site Flow",
    purpose="Orders are sent over HTTPS to HP Site Flow (OneFlow), which reports their progress back.",
    settings=SiteFlowSettings,
    takes_several_items=True,
)
class SiteFlowAdapter:
    """The job number is `sourceOrderId`, which Site Flow takes once for each account. Each job is an item."""

    def __init__(
        self, settings: Mapping[str, Any], secrets: Mapping[str, str], ledger: Ledger | None = None
    ) -> None:
        self._settings, self._secret = settings, secrets.get("secret", "")
        self._url = str(self._settings["url"]).rstrip("/")
        self._order_url = str(self._settings["order_url"]).rstrip("/") or self._url

    def check_connection(self) -> str:
        """Validates an empty order: its error proves that token and secret are valid."""
        probe = {"destination": {"name": self._settings["destination"]}, "orderData": {}}
        response, exchange = self._send_request("POST", f"{self._url}/api/order/validate", probe)
        if response.status not in {400, 422} and not response.is_success:
            raise _build_failure(response, exchange)
        return f"Site Flow at {urlsplit(self._url).hostname} accepts the token and the secret."

    def preview(self, job: AdapterJob) -> Mapping[str, Any]:
        order = json.dumps(siteflow_order(job, self._settings), ensure_ascii=False, indent=2)
        requests = {}
        if self._settings["validate"]:
            requests[f"POST {self._url}/api/order/validate"] = order
        requests[f"POST {self._order_url}/api/order"] = order
        return requests

    def submit(self, job: AdapterJob) -> Submitted:
        order = siteflow_order(job, self._settings)
        digests = {file.name: file.sha256 for part in job.parts for file in part.files}
        if self._settings["validate"]:
            response, exchange = self._send_request(
                "POST", f"{self._url}/api/order/validate", order, digests, is_dry_run=True
            )
            if not response.is_success:
                return self._submitted_before(job, response, exchange, is_dry_run=True)
        response, exchange = self._send_request("POST", f"{self._order_url}/api/order", order, digests)
        if not response.is_success:
            return self._submitted_before(job, response, exchange)
        return Submitted((_read_reference(response.text) or job.number)[:200], exchange)

    def cancel(self, job: AdapterJob, reference: str) -> Exchange:
        account = self._settings["account"]
        order = f"{quote(account, safe='')}/{job.number}" if account else quote(reference, safe="")
        response, exchange = self._send_request("PUT", f"{self._url}/api/order/{order}/cancel", {})
        if response.is_success or any(
            words in _read_message(response.text).lower() for words in ALREADY_CANCELLED
        ):
            return exchange
        raise _build_failure(response, exchange)

    def poll(self) -> Sequence[Report]:
        return []

    def confirm(self, reports: Sequence[Report]) -> None:
        return

    def parse_report(self, body: bytes, headers: Mapping[str, str]) -> Sequence[Report]:
        return read_postbacks(body)

    def _submitted_before(
        self, job: AdapterJob, response: ProviderResponse, exchange: Exchange, *, is_dry_run: bool = False
    ) -> Submitted:
        """The submission, if Site Flow has the number from an attempt whose response was lost; else raises."""
        if response.status in {400, 409, 422} and DUPLICATE.search(f"{_read_message(response.text)}"):
            return Submitted((_read_reference(response.text) or job.number)[:200], exchange)
        raise _build_failure(response, exchange, job, is_unsent=is_dry_run or response.status == 429)

    def _send_request(
        self,
        method: str,
        url: str,
        content: Mapping[str, Any],
        digests: Mapping[str, str] | None = None,
        *,
        is_dry_run: bool = False,
    ) -> tuple[ProviderResponse, Exchange]:
        if not self._secret:
            raise ProviderRefused("The provider has no secret.", concerns_all=True)
        headers = siteflow_headers(
            method,
            url,
            token=self._settings["token"],
            secret=self._secret,
            style=self._settings["headers"],
        )
        seconds = self._settings["time_limit"]
        response, exchange = send_json(
            method, url, content, headers, seconds=seconds, digests=digests, is_dry_run=is_dry_run
        )
        if _is_of_another_site(response):
            raise ProviderUnavailable(
                f"Site Flow responded with {response.status} and no JSON, but a web page or a redirect; "
                "see whether its address is right.",
                exchange,
                is_unsent=is_dry_run,
            )
        return response, exchange


def _is_of_another_site(response: ProviderResponse) -> bool:
    """Whether a web page or a redirect came back, such as of a proxy: the request may not have reached Site Flow."""
    is_page = response.is_success and response.text.removeprefix("\ufeff").lstrip().startswith("<")
    return is_page or 300 <= response.status < 400


def _build_failure(
    response: ProviderResponse, exchange: Exchange, job: AdapterJob | None = None, *, is_unsent: bool = False
) -> Exception:
    """The error with the jobs whose items Site Flow names in it."""
    message = _read_message(response.text)
    positions = {int(digits) for digits in ITEM_AT_FAULT.findall(message)}
    parts = job.parts if job else ()
    numbers = [part.number for position, part in enumerate(parts) if position in positions]
    return failure("Site Flow", message, response, exchange, is_unsent=is_unsent, numbers=numbers)


def _read_reference(text: str) -> str:
    content = _parse_json(text)
    order = content.get("order")
    reference = order.get("_id") if isinstance(order, dict) else content.get("_id")
    return storable(reference) if isinstance(reference, str) else ""


def _read_message(text: str) -> str:
    """The error with the message of each path, in one line."""
    content = _parse_json(text)
    error = content.get("error", content)
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return ""
    validations = error.get("validations")
    entries = (
        [entry for entry in validations if isinstance(entry, dict)] if isinstance(validations, list) else []
    )
    parts = [str(error.get("message") or "")]
    parts += [f"{entry.get('path', '')}: {entry.get('message', '')}" for entry in entries[:20]]
    return "; ".join(part for part in parts if part.strip(": "))


def _parse_json(text: str) -> dict[str, Any]:
    try:
        content = read_json(text.encode())
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}
