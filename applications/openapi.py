"""Declarations for the OpenAPI document and the client libraries (`fulfillment.core.api.declarations`)."""

from fulfillment.core.api.client_names import ClientNames
from fulfillment.core.api.declarations import BODY, ETAG, OF_THE_REQUEST, Link, Tag

TAGS = (
    Tag("Applications", "Applications, their keys and icons.", 60),
    Tag("Events and webhooks", "What happened, read at any time or sent as signed requests.", 70),
    Tag("Webhook requests", "What the address of a webhook is sent.", 80),
)
ENUMS = {
    "DeliveryStateEnum": "applications.webhooks.models.DeliveryState",
    "EventTypeEnum": "applications.webhooks.event_types.EventType",
}
# Change the whole document.
HOOKS = (
    "applications.oauth.schema.add_security_schemes",
    "applications.webhooks.api.event_schemas.add_events",
)
CLIENT_NAMES = ClientNames(
    groups={"application_event": "events", "application_request": "requests"},
    methods={
        "application_icon_read": "get_icon",
        "application_icon_set": "set_icon",
        "application_key_regenerate": "regenerate_key",
        "webhook_delivery_list": "list_deliveries",
        "webhook_delivery_resend": "resend_delivery",
    },
    repeatable=frozenset({"webhook_enable"}),
)

APPLICATION = {"applicationID": f"{BODY}ID"}
WEBHOOK = {"applicationID": f"{BODY}ApplicationID", "webhookID": f"{BODY}ID"}
OF_DELIVERY = {"applicationID": f"{OF_THE_REQUEST}applicationID", "webhookID": f"{BODY}WebhookID"}
WEBHOOK_LINKS = (
    Link("webhook_read", "Read it again.", WEBHOOK),
    Link("webhook_change", "Change it as it was seen here.", {**WEBHOOK, **ETAG}),
    Link("webhook_delete", "Remove it.", WEBHOOK),
    Link("webhook_test", "Have a test event sent to it.", WEBHOOK),
    Link("webhook_delivery_list", "See what was sent to it.", WEBHOOK),
    Link("webhook_rotate_secret", "Give it a new secret.", WEBHOOK),
    Link("webhook_enable", "Switch it on again.", WEBHOOK),
    Link("webhook_recover", "Have what failed sent again.", WEBHOOK),
)
LINKS = {
    "Application": (
        Link("application_read", "Read it again.", APPLICATION),
        Link("application_change", "Change it.", APPLICATION),
        Link(
            "application_key_regenerate",
            "Give its first key a new value.",
            {**APPLICATION, "keyID": f"{BODY}Keys/0/ID"},
        ),
        Link("application_icon_read", "Its icon.", APPLICATION),
        Link("application_icon_set", "Give it another icon.", APPLICATION),
        Link("application_event_list", "What happened that concerns it.", APPLICATION),
        Link("application_request_list", "Its calls of the API.", APPLICATION),
        Link("webhook_list", "Its webhooks.", APPLICATION),
        Link("webhook_create", "Receive its events.", APPLICATION),
    ),
    "Webhook": WEBHOOK_LINKS,
    "WebhookWithSecret": WEBHOOK_LINKS,
    "Delivery": (
        Link("webhook_delivery_list", "See what became of it.", OF_DELIVERY),
        Link("webhook_delivery_resend", "Have it sent again.", {**OF_DELIVERY, "deliveryID": f"{BODY}ID"}),
    ),
}
WITH_ETAG = ("Webhook", "WebhookWithSecret")
