"""Parses postbacks of Site Flow. Their form depends on the account, so all known forms are accepted."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from production.interface import Report
from production.tickets.reports import check_count, read_json, report_from_values

STATES = {
    "received": "Acknowledged",
    "orderreceived": "Acknowledged",
    "printready": "InProduction",
    "orderprintready": "InProduction",
    "printed": "InProduction",
    "componentprinted": "InProduction",
    "reprinted": "InProduction",
    "orderreprinted": "InProduction",
    "shipped": "Shipped",
    "dispatched": "Shipped",
    "shipmentshipped": "Shipped",
    "shipmentdispatched": "Shipped",
    "cancelled": "Cancelled",
    "canceled": "Cancelled",
    "ordercancelled": "Cancelled",
    "error": "Failed",
    "errored": "Failed",
    "ordererrored": "Failed",
    "submissionerror": "Failed",
    "ordersubmissionerror": "Failed",
}
NAMED = "received, printready, printed, shipped, cancelled, errored"
# Where a value is looked for; the first match counts.
PLACES = ((), ("order",), ("orderData",), ("order", "orderData"), ("shipment",), ("data",), ("item",))
DUPLICATE = re.compile(
    r"already (exists?|been (submitted|used))|duplicate|not unique|must be unique", re.IGNORECASE
)


def read_postbacks(body: bytes) -> Sequence[Report]:
    """Raises ValueError with the field that is missing or wrong."""
    content = read_json(body)
    postbacks = content if isinstance(content, list) else [content]
    check_count(len(postbacks))
    return [_build_report(postback, f"Postback {position}") for position, postback in enumerate(postbacks, 1)]


def _build_report(postback: Any, where: str) -> Report:
    if not isinstance(postback, dict):
        raise ValueError(f"{where}: it must be an object with sourceOrderId, status and timestamp.")
    number = _find_first(postback, "sourceOrderId")
    if not number:
        raise ValueError(f"{where}: sourceOrderId is missing.")
    status = _find_first(postback, "status", "orderStatus", "event", "eventName")
    state = STATES.get(re.sub(r"[^a-z]", "", status.lower()))
    if state is None:
        raise ValueError(f"{where}: status is “{status[:60]}”; it must be one of {NAMED}.")
    message = _find_first(postback, "message", "errorMessage", "reason") or _read_error(postback)
    if state == "Failed" and DUPLICATE.search(message):
        # The second of two submissions was refused; the first one is in production.
        state = "Acknowledged"
    values = {
        "JobNumber": number,
        "State": state,
        "At": _find_first(postback, "timestamp", "date", "shippedAt"),
        "Carrier": _read_carrier(postback),
        "TrackingNumber": _find_first(
            postback, "trackingNumber", "trackingReference", "carrierTrackingNumber"
        ),
        "TrackingURL": _find_first(postback, "trackingUrl", "trackingURL", "carrierTrackingUrl"),
        "Message": f"{status}: {message}" if message else status,
    }
    parts = [
        _find_first(postback, name)
        for name in ("sourceItemId", "componentId", "sourceShipmentId", "shipmentId")
    ]
    if any(parts):
        # Components of a job are printed at the same time, and each one is reported.
        identity = "/".join([status, *parts, values["At"], values["TrackingNumber"]])
        values["ReportID"] = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()
    raw = json.dumps(postback, ensure_ascii=False, sort_keys=True)
    return replace(report_from_values(values, where=where, raw=raw), item_number=parts[0])


def _find_values(postback: Mapping[str, Any], name: str) -> Iterator[Any]:
    for path in PLACES:
        inner: Any = postback
        for step in path:
            inner = inner.get(step) if isinstance(inner, dict) else None
        if isinstance(inner, dict) and name in inner:
            yield inner[name]
    shipments = postback.get("shipments")
    if isinstance(shipments, list) and shipments and isinstance(shipments[0], dict) and name in shipments[0]:
        yield shipments[0][name]


def _find_first(postback: Mapping[str, Any], *names: str) -> str:
    for name in names:
        for value in _find_values(postback, name):
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value).strip()
    return ""


def _read_error(postback: Mapping[str, Any]) -> str:
    for error in _find_values(postback, "error"):
        if isinstance(error, str):
            return error
        if isinstance(error, dict):
            return str(error.get("message") or "")
    return ""


def _read_carrier(postback: Mapping[str, Any]) -> str:
    for carrier in _find_values(postback, "carrier"):
        if isinstance(carrier, str):
            return carrier
        if isinstance(carrier, dict):
            return str(carrier.get("name") or carrier.get("code") or carrier.get("alias") or "")
    return ""
