"""What a webhook accepts, and how events, webhooks and deliveries appear in the API."""

from typing import Any

from drf_spectacular.utils import OpenApiExample, extend_schema_field
from rest_framework import serializers

from applications.registration.api.serializers import APPLICATION_ID
from applications.webhooks.event_types import PATTERNS, STORE_ID, WEBHOOK_ID, WEBHOOK_URL, EventType
from applications.webhooks.models import DeliveryState
from fulfillment.core.api.serializers import (
    Meta,
    StrictFlag,
    StrictList,
    StrictSerializer,
    StrictText,
    Timestamp,
)

EVENT = {
    "EventID": "9d6f2f0e-5a55-4f0c-9c3e-2b1f4d1c7a10",
    "Type": "order.shipped",
    "Timestamp": "2026-03-04T15:20:11.482913Z",
    "StoreID": STORE_ID,
    "ApplicationID": APPLICATION_ID,
    "Data": EventType.ORDER_SHIPPED.example,
}
WEBHOOK = {
    "ID": WEBHOOK_ID,
    "ApplicationID": APPLICATION_ID,
    "URL": WEBHOOK_URL,
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
    "All order events",
    value={"URL": WEBHOOK["URL"], "EventTypes": ["order.*"]},
    request_only=True,
)
WEBHOOK_CHANGE = OpenApiExample("Events of one store only", value={"StoreIDs": [STORE_ID]}, request_only=True)
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


PATTERNS_TEXT = ", ".join(f"`{pattern}`" for pattern in PATTERNS)


class EventSerializer(serializers.Serializer):
    """The envelope of an event, both in this list and in webhook requests."""

    EventID = serializers.CharField(help_text="Also in the `webhook-id` header of every attempt.")
    Type = serializers.ChoiceField(choices=EventType.values)
    Timestamp = Timestamp(help_text="When it happened.")
    StoreID = serializers.CharField(allow_null=True)
    ApplicationID = serializers.CharField()
    # Described by `event_schemas`, for each type.
    Data = serializers.DictField()


@extend_schema_field({"type": "string", "enum": [*PATTERNS, *EventType.values]})
class _EventPattern(StrictText):
    """The service lists the allowed values."""


class _Names(StrictList):
    def __init__(self, help_text: str, child: StrictText | None = None, **options: Any) -> None:
        super().__init__(
            child=child or StrictText(allow_blank=True, max_length=200),
            required=False,
            max_length=200,
            help_text=help_text,
            **options,
        )


class WebhookChangeSerializer(StrictSerializer):
    """Only the members to change; null keeps the existing value."""

    ignored_nulls = True

    URL = StrictText(
        required=False,
        max_length=4000,
        trim_whitespace=False,
        help_text="A public `https` URL without user name, password or fragment.",
    )
    EventTypes = _Names(
        child=_EventPattern(allow_blank=True, trim_whitespace=False),
        help_text=f"Names and patterns: {PATTERNS_TEXT}. Default: `*`, everything.",
    )
    StoreIDs = _Names(
        help_text="Only events of these stores, and events that belong to no store. Default: every store."
    )
    IsEnabled = StrictFlag(required=False)
    ID = serializers.CharField(read_only=True)
    ApplicationID = serializers.CharField(read_only=True)
    DisabledReason = serializers.CharField(read_only=True)
    FailingSince = Timestamp(read_only=True)
    Created = Timestamp(read_only=True)
    Updated = Timestamp(read_only=True)


class WebhookRequestSerializer(WebhookChangeSerializer):
    """The URL to send events to, and which events to send."""

    URL = StrictText(
        max_length=4000,
        trim_whitespace=False,
        help_text="A public `https` URL without user name, password or fragment.",
    )


class WebhookSerializer(serializers.Serializer):
    ID = serializers.CharField()
    ApplicationID = serializers.CharField()
    URL = serializers.CharField()
    EventTypes = serializers.ListField(child=_EventPattern())
    StoreIDs = serializers.ListField(child=serializers.CharField())
    IsEnabled = serializers.BooleanField()
    DisabledReason = serializers.CharField(allow_null=True)
    FailingSince = Timestamp(
        allow_null=True, help_text="When attempts began to fail, without a success since."
    )
    Created = Timestamp()
    Updated = Timestamp()
    _meta = Meta()


class WebhookWithSecretSerializer(WebhookSerializer):
    Secret = serializers.CharField(
        help_text="`whsec_` and 32 random bytes in base64. Shown only in this response: store it."
    )


class RecoverRequestSerializer(StrictSerializer):
    Since = Timestamp(help_text="A moment of the last 30 days.")


class RecoveredSerializer(serializers.Serializer):
    Deliveries = serializers.IntegerField(help_text="How many deliveries are being sent.")
    _meta = Meta()


class AttemptSerializer(serializers.Serializer):
    Timestamp = Timestamp(help_text="When the request was sent.")
    Milliseconds = serializers.IntegerField()
    StatusCode = serializers.IntegerField(allow_null=True)
    Error = serializers.CharField(
        allow_null=True, help_text="Why there is no response, or why it is unusable."
    )
    Body = serializers.CharField(allow_blank=True, help_text="The first 2 kB of the response.")


class DeliverySerializer(serializers.Serializer):
    ID = serializers.CharField(help_text="The EventID, which your endpoint receives as `webhook-id`.")
    WebhookID = serializers.CharField()
    State = serializers.ChoiceField(choices=DeliveryState.values)
    Created = Timestamp()
    NextTry = Timestamp(allow_null=True, help_text="Null once it is Delivered or Failed, or while disabled.")
    Attempts = AttemptSerializer(many=True)
    Event = EventSerializer()
    _meta = Meta()
