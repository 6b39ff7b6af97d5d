"""Declarations for the OpenAPI document and the client libraries (`fulfillment.core.api.declarations`)."""

from typing import Any

from django.conf import settings

from accounts.permissions import Permission
from fulfillment.core.api.declarations import BODY, ETAG, OF_THE_REQUEST, ClientNames, Link, Tag

TAGS = (
    Tag("Applications", "Applications, their keys and icons.", 60),
    Tag("Events and webhooks", "Events, read at any time or sent as signed requests.", 70),
    Tag("Webhook requests", "The requests that a webhook's URL receives.", 80),
)
ENUMS = {
    "DeliveryStateEnum": "applications.webhooks.models.DeliveryState",
    "EventTypeEnum": "applications.webhooks.event_types.EventType",
}
# Change the whole document.
HOOKS = (
    "applications.openapi.add_security_schemes",
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
    Link("webhook_change", "Change it if it has not changed since this response.", {**WEBHOOK, **ETAG}),
    Link("webhook_delete", "Delete it.", WEBHOOK),
    Link("webhook_test", "Send it a test event.", WEBHOOK),
    Link("webhook_delivery_list", "List its deliveries.", WEBHOOK),
    Link("webhook_rotate_secret", "Replace its secret.", WEBHOOK),
    Link("webhook_enable", "Enable it again.", WEBHOOK),
    Link("webhook_recover", "Send missed and failed events again.", WEBHOOK),
)
LINKS = {
    "Application": (
        Link("application_read", "Read it again.", APPLICATION),
        Link("application_change", "Change it.", APPLICATION),
        Link(
            "application_key_regenerate",
            "Regenerate its first key.",
            {**APPLICATION, "keyID": f"{BODY}Keys/0/ID"},
        ),
        Link("application_icon_read", "Read its icon.", APPLICATION),
        Link("application_icon_set", "Set its icon.", APPLICATION),
        Link("application_event_list", "Read its events.", APPLICATION),
        Link("application_request_list", "List its API calls.", APPLICATION),
        Link("webhook_list", "List its webhooks.", APPLICATION),
        Link("webhook_create", "Create a webhook for its events.", APPLICATION),
    ),
    "Webhook": WEBHOOK_LINKS,
    "WebhookWithSecret": WEBHOOK_LINKS,
    "Delivery": (
        Link("webhook_delivery_list", "Read its result.", OF_DELIVERY),
        Link("webhook_delivery_resend", "Send it again.", {**OF_DELIVERY, "deliveryID": f"{BODY}ID"}),
    ),
}
WITH_ETAG = ("Webhook", "WebhookWithSecret")

# What people type to find an operation, beside its own words.
SEARCHED_AS = {
    "application_create": (
        "create an application; register an app; new app; client id; get credentials; get an api key"
    ),
    "application_read": "get an application; app details; list keys",
    "application_list": "my applications; list apps",
    "application_change": "update an application; redirect uri; reply url; rename an app",
    "application_icon_set": "upload an icon; app logo; change the icon",
    "application_key_regenerate": (
        "rotate a key; rotate the api key; new key; new api key; replace a key; change the subscription key; "
        "client secret; leaked key; revoke a key; rotate a client secret"
    ),
    "application_request_list": (
        "request log; api log; api calls; debug a request; recent calls; failed requests"
    ),
    "application_event_list": "list events; poll events; events without a webhook; event feed",
    "webhook_create": (
        "add a webhook; subscribe to events; register an endpoint; get notified; notifications; "
        "callback url; create an endpoint"
    ),
    "webhook_change": "change the url of a webhook; update a webhook; edit a webhook; choose events",
    "webhook_delete": "remove a webhook; unsubscribe; delete an endpoint",
    "webhook_rotate_secret": (
        "webhook secret; rotate the secret; signing secret; rotate the webhook secret; new secret; "
        "verify a signature"
    ),
    "webhook_test": "test a webhook; send a test event; ping a webhook; try a webhook",
    "webhook_enable": "enable a webhook; disabled webhook; reactivate a webhook; turn on a webhook",
    "webhook_recover": "missed events; recover events; replay events; lost webhooks; backfill events",
    "webhook_delivery_resend": (
        "resend a webhook; retry a delivery; redeliver; resend an event; retry a webhook"
    ),
    "webhook_delivery_list": "webhook log; failed deliveries; webhook attempts; delivery attempts",
}


def add_security_schemes(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular, for the finished document."""
    components = result["components"] | {"securitySchemes": _describe_schemes()}
    result["components"] = dict(sorted(components.items()))
    return result


def _describe_schemes() -> dict[str, Any]:
    token_url = f"{settings.PUBLIC_URL}/oauth/token"
    return {
        "OAuth2": {
            "type": "oauth2",
            "description": "Header `Authorization: Bearer <access token>`.",
            "flows": {
                "authorizationCode": {
                    "authorizationUrl": f"{settings.PUBLIC_URL}/oauth/authorize",
                    "tokenUrl": token_url,
                    "refreshUrl": token_url,
                    "scopes": {name: str(label) for name, label in Permission.choices},
                },
                "clientCredentials": {
                    "tokenUrl": token_url,
                    "scopes": {
                        name: str(label) for name, label in Permission.choices if name != Permission.OPERATOR
                    },
                },
            },
        },
        "SubscriptionKey": {
            "type": "apiKey",
            "in": "header",
            "name": "Ocp-Apim-Subscription-Key",
            "description": "The primary or secondary subscription key of the token's user or application.",
        },
    }
