"""Requests and responses that the API reference shows for quotes and orders."""

from collections.abc import Iterable

from drf_spectacular.utils import OpenApiExample

from applications.registration.api.serializers import APPLICATION_ID
from applications.webhooks.event_types import BUDGET_ID
from stores.orders.models.status import ALLOWED_TRANSITIONS, OrderStatus

QUOTE_REQUEST = {
    "Items": [{"ItemKey": "cards", "ProductID": "business-card-standard", "Quantity": 500}],
    "ShipTo": {"CountryCode": "US", "PostalCode": "80202", "LocationType": "Commercial"},
    "DeliveryMethodCode": "GROUND",
    "ProductionDays": 3,
}
QUOTE = {
    "QuoteID": "2f0c6c39-6f29-4f8f-9d5b-5c3f2a5f9b10",
    "StoreID": "summit-print",
    "Created": "2026-03-02T17:20:11.402113Z",
    "ExpiresAt": "2026-03-04T17:20:11.402113Z",
    "Currency": "USD",
    "Options": [
        {
            "OptionID": "GROUND-3",
            "DeliveryMethodCode": "GROUND",
            "ProductionDays": 3,
            "ItemsTotal": 60.0,
            "DeliveryTotal": 0.0,
            "Total": 60.0,
            "EarliestDelivery": "2026-03-10",
            "LatestDelivery": "2026-03-12",
            "BudgetDecision": "Allowed",
            "Items": [
                {
                    "ItemKey": "cards",
                    "ProductID": "business-card-standard",
                    "Quantity": 500,
                    "UnitPrice": 0.12,
                    "LineTotal": 60.0,
                }
            ],
        }
    ],
    "Budgets": [
        {
            "BudgetID": BUDGET_ID,
            "Name": "Marketing",
            "Type": "Amount",
            "Limit": 5500.0,
            "Used": 4100.0,
            "Remaining": 1400.0,
            "PeriodEnd": "2026-04-01T06:00:00Z",
            "OverBudget": "Refuse",
        }
    ],
    "Issues": [],
}
QUOTE_EXAMPLES = [
    OpenApiExample("Question", value=QUOTE_REQUEST, request_only=True),
    OpenApiExample("Quote", value=QUOTE, response_only=True),
]

ORDER_REQUEST = {
    "ExternalID": "PO-20417",
    "DeliveryMethodCode": "GROUND",
    "ProductionDays": 3,
    "Recipient": {
        "Name": "Dana Whitfield",
        "Company": "Acme Realty",
        "Address1": "1200 17th Street",
        "City": "Denver",
        "State": "CO",
        "PostalCode": "80202",
        "CountryCode": "US",
    },
    "Items": [
        {
            "ItemKey": "cards",
            "ProductID": "business-card-standard",
            "Quantity": 500,
            "TemplateData": {"Name": "Dana Whitfield", "Title": "Broker", "Email": "dana@acme.example"},
        }
    ],
    "Metadata": {"campaign": "spring"},
}
ORDER = {
    "OrderID": "01958d3a-1c4e-7c3b-8a53-6a0f5b1f2f10",
    "OrderNumber": "10000042",
    "ExternalID": "PO-20417",
    "StoreID": "summit-print",
    "ApplicationID": APPLICATION_ID,
    "Status": 60,
    "StatusName": "Shipped",
    "Sequence": 4,
    "Created": "2026-03-02T17:24:50.118204Z",
    "Updated": "2026-03-06T21:02:13.004518Z",
    "CancellableUntil": "2026-03-02T18:24:50.118204Z",
    "Cancellation": None,
    "Approval": None,
    "DeliveryMethodCode": "GROUND",
    "ProductionDays": 3,
    "EarliestDelivery": "2026-03-10",
    "LatestDelivery": "2026-03-12",
    "Currency": "USD",
    "ItemsTotal": 60.0,
    "DeliveryTotal": 0.0,
    "Total": 60.0,
    "QuoteID": QUOTE["QuoteID"],
    "OptionID": "GROUND-3",
    "ReprintOfOrderID": None,
    "BatchID": None,
    "RowKey": None,
    "Recipient": {
        "Name": "Dana Whitfield",
        "Company": "Acme Realty",
        "Address1": "1200 17th Street",
        "Address2": "",
        "City": "Denver",
        "State": "CO",
        "PostalCode": "80202",
        "CountryCode": "US",
        "Phone": "",
        "Email": "",
    },
    "Items": [
        {
            "ItemKey": "cards",
            "ProductID": "business-card-standard",
            "ProductName": "Standard business cards",
            "Quantity": 500,
            "UnitPrice": 0.12,
            "LineTotal": 60.0,
            "TemplateData": {"Name": "Dana Whitfield", "Title": "Broker", "Email": "dana@acme.example"},
            "PrintFile": {
                "URL": "https://print.example/api/v1/store/summit-print/order/"
                "01958d3a-1c4e-7c3b-8a53-6a0f5b1f2f10/item/cards/print-file",
                "SHA256": "5f2b7d0c3b7c1f3ad9cf6cba1f4b8c7a4f0a4a7a1c7e8f2f6c5f5f3f7f0d9b21",
                "Bytes": 48211,
            },
            "Preflight": [],
        }
    ],
    "Shipments": [
        {
            "Carrier": "UPS",
            "TrackingNumber": "1Z999AA10123456784",
            "TrackingURL": None,
            "ItemKeys": ["cards"],
            "Shipped": "2026-03-06T21:00:00Z",
        }
    ],
    "Metadata": {"campaign": "spring"},
    "IsTest": False,
    "_meta": {"Messages": []},
}
NEW_ORDER = ORDER | {
    "Status": 10,
    "StatusName": "Received",
    "Sequence": 1,
    "Updated": ORDER["Created"],
    "Shipments": [],
}
EXPORT_ROW = {
    **{name: ORDER[name] for name in ("OrderID", "OrderNumber", "ExternalID", "StoreID", "ApplicationID")},
    **{name: ORDER[name] for name in ("Status", "StatusName", "Created", "Updated")},
    "ProductIDs": ["business-card-standard"],
    "ItemCount": 1,
    "TotalQuantity": 500,
    "DeliveryMethodCode": "GROUND",
    "ProductionDays": 3,
    "RecipientName": "Dana Whitfield",
    "RecipientCity": "Denver",
    "RecipientState": "CO",
    "RecipientPostalCode": "80202",
    "RecipientCountryCode": "US",
    "Currency": "USD",
    "Total": 60.0,
    "TrackingNumbers": ["1Z999AA10123456784"],
}
HISTORY = {
    "Sequence": 4,
    "PreviousStatus": 40,
    "Status": 60,
    "StatusName": "Shipped",
    "Timestamp": "2026-03-06T21:02:13.004518Z",
    "ActorKind": "Store",
    "Note": "",
}
ORDER_EXAMPLE = OpenApiExample("Order", value=ORDER, response_only=True, status_codes=["200", "202"])
NEW_ORDER_EXAMPLE = OpenApiExample("Order", value=NEW_ORDER, response_only=True, status_codes=["201"])
HISTORY_EXAMPLE = OpenApiExample("Change", value=HISTORY, response_only=True)
EXPORT_EXAMPLE = OpenApiExample("Row", value=EXPORT_ROW, response_only=True, media_type="application/json")
CANCEL_EXAMPLE = OpenApiExample("Cancel", value={"Reason": "Ordered twice."}, request_only=True)
APPROVE_EXAMPLE = OpenApiExample("Approve", value={"Note": "For the spring fair."}, request_only=True)
DENY_EXAMPLE = OpenApiExample("Deny", value={"Reason": "Order 200 instead of 2,000."}, request_only=True)
PENDING_EXAMPLE = OpenApiExample(
    "Pending order",
    value=NEW_ORDER
    | {
        "Sequence": 2,
        "Approval": {
            "State": "Pending",
            "Reasons": [{"Kind": "Total", "Limit": 50.0, "Total": 60.0}],
            "RequestedAt": "2026-03-02T17:24:50.118204Z",
            "ExpiresAt": "2026-03-05T17:24:50.118204Z",
            "DecidedBy": None,
            "DecidedAt": None,
            "Note": "",
        },
    },
    response_only=True,
    status_codes=["201"],
)
REFUSAL_EXAMPLE = OpenApiExample("Refuse", value={"Note": "On the press already."}, request_only=True)
STATUS_EXAMPLE = OpenApiExample(
    "Shipped",
    value={"Status": 60, "Shipments": [{"Carrier": "UPS", "TrackingNumber": "1Z999AA10123456784"}]},
    request_only=True,
)
ORDER_EXAMPLES = [
    OpenApiExample("New order", value=ORDER_REQUEST, request_only=True),
    NEW_ORDER_EXAMPLE,
    PENDING_EXAMPLE,
]


def _names(statuses: Iterable[int]) -> str:
    return ", ".join(f"{status} {OrderStatus(status).label}" for status in sorted(statuses))


# Markdown, for the description of `order_status`.
TRANSITIONS = "\n".join(
    [
        "| from | to |",
        "|---|---|",
        *(
            f"| {_names([status])} | {_names(others)} |"
            for status, others in ALLOWED_TRANSITIONS.items()
            if others
        ),
    ]
)
