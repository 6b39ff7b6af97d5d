"""An example of each event, and when it is sent: shown in the OpenAPI document, the reference and the portal."""

from typing import Any

from applications.webhooks.api.serializers import EVENT, WEBHOOK, WEBHOOK_ID

ABOUT = {
    "order.received": "An order was received.",
    "order.on_hold": "The store put an order on hold.",
    "order.accepted": "The store accepted an order.",
    "order.in_production": "Production of an order began.",
    "order.partially_shipped": "The first parcels of an order were shipped.",
    "order.shipped": "Everything of an order was shipped.",
    "order.delivered": "An order was delivered.",
    "order.returned": "An order came back.",
    "order.cancelled": "An order was cancelled.",
    "order.rejected": "The store rejected an order.",
    "order.cancellation_requested": "A cancellation was requested from the store.",
    "association.approved": "An association request was approved.",
    "association.denied": "An association request was denied.",
    "webhook.test": "A test was requested for this webhook.",
    "webhook.disabled": "Another webhook of the application was disabled.",
}
# Status before, status and its name, and the sequence.
ORDERS = {
    "order.received": (None, 10, "Received", 1),
    "order.on_hold": (10, 20, "OnHold", 2),
    "order.accepted": (10, 30, "Accepted", 2),
    "order.in_production": (30, 40, "InProduction", 3),
    "order.partially_shipped": (40, 50, "PartiallyShipped", 4),
    "order.shipped": (40, 60, "Shipped", 4),
    "order.delivered": (60, 70, "Delivered", 5),
    "order.returned": (60, 80, "Returned", 5),
    "order.cancelled": (10, 90, "Cancelled", 2),
    "order.rejected": (10, 95, "Rejected", 2),
    "order.cancellation_requested": (40, 40, "InProduction", 4),
}
WITH_PARCELS = {"order.partially_shipped", "order.shipped", "order.delivered", "order.returned"}


def example_of(event_type: str) -> dict[str, Any]:
    store_id = None if event_type.startswith("webhook.") else EVENT["StoreID"]
    return {**EVENT, "Type": event_type, "StoreID": store_id, "Data": _data(event_type)}


def _data(event_type: str) -> dict[str, Any]:
    order: dict[str, Any] = EVENT["Data"]  # type: ignore[assignment]  # of a literal with several kinds of values
    if event_type in ORDERS:
        before, status, name, sequence = ORDERS[event_type]
        return {
            **order,
            "Sequence": sequence,
            "PreviousStatus": before,
            "Status": status,
            "StatusName": name,
            "Shipments": order["Shipments"] if event_type in WITH_PARCELS else [],
        }
    if event_type.startswith("association."):
        return {
            "AssociationID": "5b0f6a52-6f0e-4c39-9f38-0d1d5a2f7e33",
            "StoreID": EVENT["StoreID"],
            "UserID": None,
            "State": event_type.partition(".")[2].capitalize(),
            "Grants": ["Store.Self.Read", "Order.Self.Write"] if event_type.endswith("approved") else [],
            "IsTest": False,
        }
    if event_type == "webhook.test":
        return {"WebhookID": WEBHOOK_ID, "Message": "A test of this webhook.", "IsTest": False}
    return {
        "WebhookID": WEBHOOK_ID,
        "URL": WEBHOOK["URL"],
        "DisabledReason": "The endpoint answered 410 Gone.",
        "IsTest": False,
    }
