"""The types of events, and the patterns by which webhooks select them."""

from typing import Any

from django.db import models

WEBHOOK_ID = "3f7b8a8e-16b0-4d8a-93a2-7c5d7a1d9e02"
STORE_ID = "harbor-press"
BUDGET_ID = "7c4ce9a2-3a51-4c5f-9a3e-2f7ad1a0c1b4"
BATCH_ID = "019cb8a2-0b77-7a6e-8d0a-3f5b8c1d2e44"
WEBHOOK_URL = "https://mailstudio.example/print-events"
PARCEL = {
    "Carrier": "UPS",
    "TrackingNumber": "1Z999AA10123456784",
    "TrackingURL": None,
    "Shipped": "2026-03-04T15:20:11Z",
}
EVERYTHING = "*"


def _make_order(
    before: int | None, status: int, name: str, sequence: int, *parcels: dict[str, Any]
) -> dict[str, Any]:
    order_id = "019cb8a1-4c1e-7d2a-9d2f-6a1f0c9e2b77"
    return {
        "OrderID": order_id,
        "OrderNumber": "100042",
        "ExternalID": "acme-7781",
        "Sequence": sequence,
        "PreviousStatus": before,
        "Status": status,
        "StatusName": name,
        "Shipments": list(parcels),
        "OrderURL": f"https://print.example/api/v1/store/{STORE_ID}/order/{order_id}",
        "IsTest": False,
    }


def _make_association(state: str, *grants: str) -> dict[str, Any]:
    return {
        "AssociationID": "5b0f6a52-6f0e-4c39-9f38-0d1d5a2f7e33",
        "StoreID": STORE_ID,
        "UserID": None,
        "State": state,
        "Grants": list(grants),
        "IsTest": False,
    }


def _make_budget(used: float) -> dict[str, Any]:
    return {
        "BudgetID": BUDGET_ID,
        "StoreID": STORE_ID,
        "Name": "Marketing",
        "Type": "Amount",
        "WarnAt": 80,
        "Limit": 5000.0,
        "Used": used,
        "Remaining": 5000.0 - used,
        "PeriodStart": "2026-03-01T07:00:00Z",
        "PeriodEnd": "2026-04-01T06:00:00Z",
        "IsTest": False,
    }


def _make_batch(status: str, **counts: int) -> dict[str, Any]:
    states = ("Pending", "Ready", "Warning", "Error", "Ordered", "Failed", "Cancelled")
    return {
        "BatchID": BATCH_ID,
        "StoreID": STORE_ID,
        "Name": "Cards for Denver",
        "Status": status,
        "Counts": {state: counts.get(state, 0) for state in states},
        "Currency": "USD",
        "Total": 1320.0,
        "BatchURL": f"https://print.example/api/v1/store/{STORE_ID}/batch/{BATCH_ID}",
        "IsTest": False,
    }


def _make_webhook(**members: str) -> dict[str, Any]:
    return {"WebhookID": WEBHOOK_ID, **members, "IsTest": False}


class EventType(models.TextChoices):
    """Each with an example of its `Data` and, as its label, the sentence that says when it is sent.

    Both are shown in the OpenAPI document, the reference and the portal.
    """

    example: dict[str, Any]

    def __new__(cls, value: str, example: dict[str, Any]) -> "EventType":
        member = str.__new__(cls, value)
        member._value_ = value
        member.example = example
        return member

    ORDER_RECEIVED = "order.received", _make_order(None, 10, "Received", 1), "An order was received."
    ORDER_ON_HOLD = "order.on_hold", _make_order(10, 20, "OnHold", 2), "The store put an order on hold."
    ORDER_ACCEPTED = "order.accepted", _make_order(10, 30, "Accepted", 2), "The store accepted an order."
    ORDER_IN_PRODUCTION = (
        "order.in_production",
        _make_order(30, 40, "InProduction", 3),
        "Production of an order began.",
    )
    ORDER_PARTIALLY_SHIPPED = (
        "order.partially_shipped",
        _make_order(40, 50, "PartiallyShipped", 4, PARCEL),
        "The first parcels of an order were shipped.",
    )
    ORDER_SHIPPED = (
        "order.shipped",
        _make_order(40, 60, "Shipped", 4, PARCEL),
        "Everything of an order was shipped.",
    )
    ORDER_DELIVERED = (
        "order.delivered",
        _make_order(60, 70, "Delivered", 5, PARCEL),
        "An order was delivered.",
    )
    ORDER_RETURNED = "order.returned", _make_order(60, 80, "Returned", 5, PARCEL), "An order came back."
    ORDER_CANCELLED = "order.cancelled", _make_order(10, 90, "Cancelled", 2), "An order was cancelled."
    ORDER_REJECTED = "order.rejected", _make_order(10, 95, "Rejected", 2), "The store rejected an order."
    ORDER_CANCELLATION_REQUESTED = (
        "order.cancellation_requested",
        _make_order(40, 40, "InProduction", 4),
        "A cancellation was requested from the store.",
    )
    ORDER_APPROVAL_REQUESTED = (
        "order.approval_requested",
        _make_order(10, 10, "Received", 2),
        "An order needs approval.",
    )
    ORDER_APPROVED = "order.approved", _make_order(10, 10, "Received", 3), "An order was approved."
    ORDER_DENIED = (
        "order.denied",
        _make_order(10, 10, "Received", 3),
        "The approval of an order was denied; `order.rejected` follows.",
    )
    ASSOCIATION_APPROVED = (
        "association.approved",
        _make_association("Approved", "Store.Self.Read", "Order.Self.Write"),
        "An association request was approved.",
    )
    ASSOCIATION_DENIED = (
        "association.denied",
        _make_association("Denied"),
        "An association request was denied.",
    )
    WEBHOOK_TEST = (
        "webhook.test",
        _make_webhook(Message="A test of this webhook."),
        "A test was requested for this webhook.",
    )
    WEBHOOK_DISABLED = (
        "webhook.disabled",
        _make_webhook(URL=WEBHOOK_URL, DisabledReason="The endpoint responded with 410 Gone."),
        "Another webhook of the application was disabled.",
    )
    BUDGET_WARNED = (
        "budget.warned",
        _make_budget(4100.0),
        "A budget is used to its `WarnAt` percent, for the first time in the period.",
    )
    BUDGET_EXCEEDED = (
        "budget.exceeded",
        _make_budget(5000.0),
        "A budget is used to 100 percent, for the first time in the period.",
    )
    BATCH_CHECKED = (
        "batch.checked",
        _make_batch("Checked", Ready=55, Error=5),
        "All rows of a batch are checked.",
    )
    BATCH_ORDERED = (
        "batch.ordered",
        _make_batch("Ordered", Ordered=55, Error=5),
        "All orders of a batch are placed.",
    )


PATTERNS = (EVERYTHING, *dict.fromkeys(f"{name.partition('.')[0]}.*" for name in EventType.values))


def named_types(patterns: list[str]) -> list[str]:
    """The event types that match names and patterns."""
    return [name for name in EventType.values if any(matches_pattern(pattern, name) for pattern in patterns)]


def matches_pattern(pattern: str, name: str) -> bool:
    return pattern in {EVERYTHING, name} or (pattern.endswith(".*") and name.startswith(pattern[:-1]))
