"""The events in the OpenAPI document: one schema for each kind of `Data`, and the `webhooks` that bring them."""

from typing import Any

from applications.webhooks.api.serializers import EVENT
from applications.webhooks.event_types import EventType
from fulfillment.core.api.document import allow_null

TEXT = {"type": "string"}
MOMENT = {"type": "string", "format": "date-time"}
IS_TEST = {"type": "boolean", "description": "Whether it belongs to a test application."}
TAG = "Webhook requests"
SCHEMAS = "#/components/schemas/"
HEADERS = {
    "webhook-id": "The EventID: the same for every attempt.",
    "webhook-timestamp": "When this attempt was sent, in seconds since 1970.",
    "webhook-signature": "One or two signatures, `v1,` and base64, separated by a space.",
}


def _describe_data(members: dict[str, Any], description: str) -> dict[str, Any]:
    """The members of all events, and those of this kind."""
    return _describe_object({**members, "IsTest": IS_TEST}, description)


def _describe_object(members: dict[str, Any], description: str) -> dict[str, Any]:
    return {"type": "object", "description": description, "properties": members, "required": sorted(members)}


PARCEL = _describe_object(
    {"Carrier": TEXT, "TrackingNumber": TEXT, "TrackingURL": allow_null(TEXT), "Shipped": MOMENT},
    "A parcel without its contents.",
)
DATA = {
    "Order": _describe_data(
        {
            "OrderID": TEXT,
            "OrderNumber": TEXT,
            "ExternalID": allow_null(TEXT),
            "Sequence": {"type": "integer", "description": "Rises by 1 with every change of the order."},
            "PreviousStatus": {"type": ["integer", "null"]},
            "Status": {"type": "integer"},
            "StatusName": {"$ref": f"{SCHEMAS}StatusNameEnum"},
            "Shipments": {
                "type": "array",
                "items": {"$ref": f"{SCHEMAS}EventShipment"},
                "description": "The latest parcels, as many as fit.",
            },
            "OrderURL": TEXT,
        },
        "The current state of an order. It contains no recipient data.",
    ),
    "Association": _describe_data(
        {
            "AssociationID": TEXT,
            "StoreID": allow_null(TEXT),
            "UserID": allow_null(TEXT),
            "State": {"$ref": f"{SCHEMAS}AssociationStateEnum"},
            "Grants": {"type": "array", "items": {"$ref": f"{SCHEMAS}GrantEnum"}},
        },
        "How an association request was decided.",
    ),
    "Budget": _describe_data(
        {
            "BudgetID": TEXT,
            "StoreID": TEXT,
            "Name": TEXT,
            "Type": {"$ref": f"{SCHEMAS}BudgetTypeValueEnum"},
            "WarnAt": {"type": "integer"},
            "Limit": {"type": "number", "description": "The limit for this period."},
            "Used": {"type": "number"},
            "Remaining": {"type": "number", "description": "Negative if more is used than the limit."},
            "PeriodStart": MOMENT,
            "PeriodEnd": MOMENT,
        },
        "The balance of a budget in its period.",
    ),
    "Batch": _describe_data(
        {
            "BatchID": TEXT,
            "StoreID": TEXT,
            "Name": TEXT,
            "Status": {"$ref": f"{SCHEMAS}BatchStatusEnum"},
            "Counts": {"$ref": f"{SCHEMAS}BatchCounts"},
            "Currency": TEXT,
            "Total": {"type": "number", "description": "The total price of the rows without errors."},
            "BatchURL": TEXT,
        },
        "The state of a batch, with the number of rows in each state. It contains no row data.",
    ),
    "WebhookTest": _describe_data({"WebhookID": TEXT, "Message": TEXT}, "A test that was requested."),
    "WebhookDisabled": _describe_data(
        {"WebhookID": TEXT, "URL": TEXT, "DisabledReason": TEXT}, "A webhook that receives no more events."
    ),
}


def event_data_kind(event_type: str) -> str:
    """The name in DATA of this event's payload."""
    topic, _, word = event_type.partition(".")
    return f"Webhook{word.capitalize()}" if topic == "webhook" else topic.capitalize()


def _make_example(event_type: EventType) -> dict[str, Any]:
    store_id = None if event_type.startswith("webhook.") else EVENT["StoreID"]
    return {**EVENT, "Type": str(event_type), "StoreID": store_id, "Data": event_type.example}


def add_events(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: `Event` becomes one of several, distinguished by `Type`."""
    schemas = result["components"]["schemas"]
    envelope = schemas["Event"]
    schemas["EventShipment"] = PARCEL
    for kind, data in DATA.items():
        types = [name for name in EventType.values if event_data_kind(name) == kind]
        schemas[f"{kind}EventData"] = data
        # Named, because generators confuse unnamed schemas with the member of the same name.
        schemas[f"{kind}EventTypeEnum"] = {"type": "string", "enum": types}
        members = {
            **envelope["properties"],
            "Type": {"$ref": f"{SCHEMAS}{kind}EventTypeEnum"},
            "Data": {"$ref": f"{SCHEMAS}{kind}EventData"},
        }
        schemas[f"{kind}Event"] = {**envelope, "properties": members}
    references = {name: f"{SCHEMAS}{event_data_kind(name)}Event" for name in EventType.values}
    schemas["Event"] = {
        "description": envelope["description"],
        "oneOf": [{"$ref": reference} for reference in dict.fromkeys(references.values())],
        "discriminator": {"propertyName": "Type", "mapping": references},
    }
    del schemas["EventTypeEnum"]
    # By reference, because openapi-generator writes invalid code for inline `webhooks`.
    result["components"]["pathItems"] = {
        event_type.value: {"post": _describe_webhook(event_type, references[event_type.value])}
        for event_type in EventType
    }
    result["webhooks"] = {name: {"$ref": f"#/components/pathItems/{name}"} for name in references}
    return result


def _describe_webhook(event_type: EventType, schema: str) -> dict[str, Any]:
    return {
        "operationId": "webhook_event_" + event_type.replace(".", "_"),
        "summary": f"The event {event_type}",
        "description": f"{event_type.label} Signed according to Standard Webhooks; see the webhooks of an application.",
        # Separate tags: generators write one file for each tag, which would overwrite that of the operations.
        "tags": [TAG],
        # Authenticated by the signature, not by a token.
        "security": [{}],
        "parameters": [
            {"name": name, "in": "header", "required": True, "schema": TEXT, "description": text}
            for name, text in HEADERS.items()
        ],
        "requestBody": {
            "content": {
                "application/json": {
                    "schema": {"$ref": schema},
                    "examples": {"Event": {"value": _make_example(event_type)}},
                }
            },
            "required": True,
        },
        "responses": {
            "2XX": {"description": "Received; answered within 15 seconds."},
            "410": {"description": "Disables the webhook."},
            "default": {"description": "Not received: the service tries again later."},
        },
    }
