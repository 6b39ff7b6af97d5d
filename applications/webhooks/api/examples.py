from drf_spectacular.utils import OpenApiExample

APPLICATION_ID = "0b5c3a5e-6d6e-4d5a-8f4f-5c9f2f1f7a11"
WEBHOOK_ID = "3f7b8a8e-16b0-4d8a-93a2-7c5d7a1d9e02"
EVENT = {
    "EventID": "9d6f2f0e-5a55-4f0c-9c3e-2b1f4d1c7a10",
    "Type": "order.shipped",
    "Timestamp": "2026-03-04T15:20:11.482913Z",
    "StoreID": "harbor-press",
    "ApplicationID": APPLICATION_ID,
    "Data": {
        "OrderID": "019cb8a1-4c1e-7d2a-9d2f-6a1f0c9e2b77",
        "OrderNumber": "100042",
        "ExternalID": "acme-7781",
        "Sequence": 4,
        "PreviousStatus": 40,
        "Status": 60,
        "StatusName": "Shipped",
        "Shipments": [
            {
                "Carrier": "UPS",
                "TrackingNumber": "1Z999AA10123456784",
                "TrackingURL": None,
                "Shipped": "2026-03-04T15:20:11Z",
            }
        ],
        "OrderURL": "https://print.example/api/v1/store/harbor-press/order/019cb8a1-4c1e-7d2a-9d2f-6a1f0c9e2b77",
        "IsTest": False,
    },
}
WEBHOOK = {
    "ID": WEBHOOK_ID,
    "ApplicationID": APPLICATION_ID,
    "URL": "https://mailstudio.example/print-events",
    "EventTypes": ["order.*"],
    "StoreIDs": [],
    "IsEnabled": True,
    "DisabledReason": None,
    "FailingSince": None,
    "Created": "2026-03-01T00:00:00Z",
    "Updated": "2026-03-01T00:00:00Z",
    "_meta": {"Messages": []},
}
SECRET = {"Secret": "whsec_" + "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="}
DELIVERY = {
    "ID": EVENT["EventID"],
    "WebhookID": WEBHOOK_ID,
    "State": "Pending",
    "Created": "2026-03-04T15:20:11.490000Z",
    "NextTry": "2026-03-04T15:25:17.120000Z",
    "Attempts": [
        {
            "Timestamp": "2026-03-04T15:20:11.502000Z",
            "Milliseconds": 41,
            "StatusCode": 503,
            "Error": None,
            "Body": "try later",
        }
    ],
    "Event": EVENT,
    "_meta": {"Messages": []},
}

EVENT_RESPONSE = OpenApiExample("An order was shipped", value=EVENT, response_only=True)
WEBHOOK_RESPONSE = OpenApiExample("Webhook", value=WEBHOOK, response_only=True)
SECRET_RESPONSE = OpenApiExample("Webhook with its secret", value=WEBHOOK | SECRET, response_only=True)
WEBHOOK_REQUEST = OpenApiExample(
    "All news of orders",
    value={"URL": WEBHOOK["URL"], "EventTypes": ["order.*"]},
    request_only=True,
)
WEBHOOK_CHANGE = OpenApiExample("Of one store only", value={"StoreIDs": ["harbor-press"]}, request_only=True)
RECOVER_REQUEST = OpenApiExample("Since", value={"Since": "2026-03-04T00:00:00Z"}, request_only=True)
RECOVERED = OpenApiExample(
    "Recovered",
    value={"Deliveries": 12, "_meta": {"Messages": []}},
    response_only=True,
    status_codes=["202"],
)
DELIVERY_RESPONSE = OpenApiExample(
    "Tried once", value=DELIVERY, response_only=True, status_codes=["200", "202"]
)
