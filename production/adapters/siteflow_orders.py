"""A job as an order of HP Site Flow: JSON and the headers that sign a request."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from production.interface import AdapterJob, JobFile, JobItem, ProviderRefused
from production.tickets.values import checked_number

HEADERS = {"oneflow": "x-oneflow-{}", "hp": "x-hp-hmac-{}"}
AUTHORIZATION = {"oneflow": "authorization", "hp": "authentication"}


def siteflow_headers(
    method: str, url: str, *, token: str, secret: str, style: str, now: datetime | None = None
) -> dict[str, str]:
    """HMAC over method, path and time; the query is not signed."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    timestamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    signed_text = f"{method} {unquote(urlsplit(url).path)} {timestamp}"
    signature = hmac.new(secret.encode(), signed_text.encode(), hashlib.sha256).hexdigest()
    name = HEADERS[style].format
    return {
        name(AUTHORIZATION[style]): f"{token}:{signature}",
        name("date"): timestamp,
        name("algorithm"): "SHA256",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }


def read_mapping(text: str) -> dict[str, tuple[str, str]]:
    """Lines `ours = theirs` or `ours = theirs / second`; raises ValueError with the line."""
    table = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        ours, equals, theirs = line.partition("=")
        first, _, second = theirs.partition("/")
        if not equals or not ours.strip() or not first.strip():
            raise ValueError(f"Line {number}: write “ours = theirs”, such as BC-16 = card / body.")
        table[ours.strip()] = (first.strip(), second.strip())
    return table


def siteflow_order(job: AdapterJob, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Builds an order with one shipment: its items are the job, or the jobs that go together."""
    carriers = read_mapping(settings["carriers"])
    return {
        "destination": {"name": settings["destination"]},
        "orderData": {
            "sourceOrderId": checked_number(job.number),
            "customerName": job.recipient.get("Company") or job.recipient.get("Name", ""),
            "instructions": job.note,
            "extraData": _extra_data(job),
            "items": [_build_item(part, settings) for part in job.parts],
            "shipments": [
                {
                    "shipmentIndex": 0,
                    **_build_deadline(job),
                    "shipTo": _ship_to(job.recipient),
                    "carrier": _build_carrier(carriers.get(job.delivery_method), job.delivery_method),
                    "attachments": [
                        _build_attachment(part, file)
                        for part in job.parts
                        for file in part.files
                        if not file.is_printed
                    ],
                }
            ],
        },
    }


def _extra_data(job: AdapterJob) -> dict[str, Any]:
    own_numbers = [part.number for part in job.parts]
    return {
        "orderNumber": job.order_number,
        "externalId": job.external_id,
        "due": _format_day(job.ship_by),
        "shipBy": _format_day(job.ship_by),
        "deliverBy": _format_day(job.deliver_by),
        "productionDays": job.production_days,
        "rush": any(part.is_rush for part in job.parts),
        "siblings": [number for number in job.siblings if number not in own_numbers],
    }


def _build_item(job: AdapterJob, settings: Mapping[str, Any]) -> dict[str, Any]:
    item, products = job.item, read_mapping(settings["products"])
    sku, code = products.get(item.sku) or products.get(item.product_id) or (item.sku, "")
    if not sku:
        raise ProviderRefused(
            f"{item.product_name} has no SKU, and the setting Products names none for it.",
            numbers=[job.number],
        )
    item_of_order = {"item": job.place_of_order} if job.place_of_order else {}
    return {
        "sourceItemId": job.number,
        "sku": sku,
        "description": item.product_name,
        "quantity": item.quantity,
        "shipmentIndex": 0,
        "extraData": {
            "options": dict(sorted(item.options.items())),
            "sides": item.sides,
            **_describe_paper(item),
            **item_of_order,
        },
        "components": _build_components(
            job, code or settings["component_code"], read_mapping(settings.get("attributes") or "")
        ),
    }


def _build_deadline(job: AdapterJob) -> dict[str, Any]:
    """The day that Site Flow plans by, and in how many days."""
    days = {"slaDays": job.production_days} if job.production_days else {}
    return {**({"shipByDate": job.ship_by.isoformat()} if job.ship_by else {}), **days, "canShipEarly": True}


def _format_day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""


def _describe_paper(item: JobItem) -> dict[str, Any]:
    values = {
        "stock": item.stock_code,
        "weightGSM": item.stock_weight_gsm,
        "coating": item.coating,
        "finish": item.finish,
        "binding": item.binding,
        "bindingEdge": item.binding_edge,
        "folding": item.folding,
        "spotPlates": list(item.spot_plates),
    }
    return {name: value for name, value in values.items() if value}


def _build_attachment(job: AdapterJob, file: JobFile) -> dict[str, Any]:
    return {"path": _find_address(job, file), "fetch": True, "contentType": file.media_type, "type": "insert"}


def _find_address(job: AdapterJob, file: JobFile) -> str:
    if not file.url:
        raise ProviderRefused(
            f"The file {file.name} has no address that Site Flow could fetch.", numbers=[job.number]
        )
    return file.url


def _build_components(
    job: AdapterJob, code: str, attributes: Mapping[str, tuple[str, str]]
) -> list[dict[str, Any]]:
    """`attributes` maps the options of a product to the names of Site Flow's product."""
    if not job.print_files:
        raise ProviderRefused("The job has no print file.", numbers=[job.number])
    values = {
        theirs: job.item.options[ours] for ours, (theirs, _) in attributes.items() if ours in job.item.options
    }
    return [
        {
            "code": code if position == 1 else f"{code}{position}",
            "path": _find_address(job, file),
            "fetch": True,
            **({"attributes": values} if values else {}),
            "extraData": {"sha256": file.sha256},
        }
        for position, file in enumerate(job.print_files, 1)
    ]


def _ship_to(recipient: Mapping[str, str]) -> dict[str, str]:
    names = {
        "name": "Name",
        "companyName": "Company",
        "address1": "Address1",
        "address2": "Address2",
        "town": "City",
        "state": "State",
        "postcode": "PostalCode",
        "isoCountry": "CountryCode",
        "email": "Email",
        "phone": "Phone",
    }
    return {theirs: recipient[ours] for theirs, ours in names.items() if recipient.get(ours)}


def _build_carrier(entry: tuple[str, str] | None, method: str) -> dict[str, str]:
    code, service = entry or (method, "")
    return {"code": code, "service": service} if service else {"alias": code}
