"""The links of the OpenAPI description.

They are declared once for each component, and added to every response that shows it, alone or in a list.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

BODY = "$response.body#/"
FIRST = "$response.body#/0/"
LISTED = "The first of the list: "
OF_THE_REQUEST = "$request.path."
# OpenAPI has no way to say which members of a body come from an answer that all generators take: `requestBody` of a
# link is the whole body, and several of them refuse one that is not a string.
LINKED_BODY = "x-requestBody"
ETAG = {"If-Match": "$response.header.ETag"}


@dataclass(frozen=True)
class Link:
    """To an operation by its ID; values are runtime expressions of OpenAPI, or names of the shown thing's members."""

    to: str
    says: str
    parameters: Mapping[str, str]
    body: Mapping[str, Any] = field(default_factory=dict)


STORE = {"storeID": f"{BODY}StoreID"}
PRODUCT = {"storeID": f"{OF_THE_REQUEST}storeID", "productID": f"{BODY}ID"}
ITEMS = {"Items": [{"ProductID": f"{BODY}ID", "Quantity": f"{BODY}DefaultQty"}]}
IN_STORE = {"storeID": f"{OF_THE_REQUEST}storeID"}
QUOTE = {**STORE, "quoteID": f"{BODY}QuoteID"}
ORDER = {**STORE, "orderID": f"{BODY}OrderID"}
APPLICATION = {"applicationID": f"{BODY}ID"}
WEBHOOK = {"applicationID": f"{BODY}ApplicationID", "webhookID": f"{BODY}ID"}
OF_DELIVERY = {"applicationID": f"{OF_THE_REQUEST}applicationID", "webhookID": f"{BODY}WebhookID"}
ASSOCIATION = {"associationID": f"{BODY}ID"}

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
# By the name of the component an answer shows.
LEADS_TO: dict[str, tuple[Link, ...]] = {
    "Store": (
        Link("store_read", "Read it again.", STORE),
        Link("product_list", "Its products.", STORE),
        Link("asset_create", "Upload a picture for its products.", STORE),
        Link("order_exportview", "Its orders.", STORE),
    ),
    "Product": (
        Link("product_read", "Read it again.", PRODUCT),
        Link("proof_create", "See it with data in it.", PRODUCT),
        Link("quote_create", "Ask what the usual quantity costs.", IN_STORE, ITEMS),
        Link("order_create", "Order the usual quantity.", IN_STORE, ITEMS),
    ),
    "Selection": (
        Link(
            "delivery_eddm_selection_read",
            "Read it again, or as GeoJSON.",
            {"selectionID": f"{BODY}SelectionID"},
        ),
    ),
    "Quote": (Link("quote_read", "Read it again, until it expires.", QUOTE),),
    "Order": (
        Link("order_read", "Read it again.", ORDER),
        Link("order_history", "What became of it, and when.", ORDER),
        Link("order_cancel", "Cancel it as it was seen here.", {**ORDER, **ETAG}),
        Link("order_cancel_refuse", "Refuse the request to cancel it.", {**ORDER, **ETAG}),
        Link("order_status", "Move it as it was seen here.", {**ORDER, **ETAG}),
        Link("order_advance", "In the demo store: move it one step on.", {**ORDER, **ETAG}),
        Link("order_packing_slip", "Its packing slip.", ORDER),
        Link("order_print_file", "What is printed.", {**ORDER, "itemKey": f"{BODY}Items/0/ItemKey"}),
        Link(
            "order_eddm_papers",
            "The papers of an item for EDDM.",
            {**ORDER, "itemKey": f"{BODY}Items/0/ItemKey"},
        ),
        Link("order_create", "Print it once more.", STORE, {"ReprintOfOrderID": f"{BODY}OrderID"}),
    ),
    "ExportRow": (
        Link("order_read", "The whole order.", ORDER),
        Link("order_history", "What became of it, and when.", ORDER),
    ),
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
        Link("association_request", "Ask to join it.", {}, {"ApplicationID": f"{BODY}ID"}),
    ),
    "Webhook": WEBHOOK_LINKS,
    "WebhookWithSecret": WEBHOOK_LINKS,
    "Delivery": (
        Link("webhook_delivery_list", "See what became of it.", OF_DELIVERY),
        Link("webhook_delivery_resend", "Have it sent again.", {**OF_DELIVERY, "deliveryID": f"{BODY}ID"}),
    ),
    "Association": (
        Link("association_read", "See what became of it.", ASSOCIATION),
        Link("association_withdraw", "Withdraw it.", ASSOCIATION),
        Link("association_approve", "Approve it.", ASSOCIATION),
        Link("association_deny", "Deny it.", ASSOCIATION),
    ),
    "User": (Link("user_roles", "What they may do, for operators.", {"userID": f"{BODY}ID"}),),
    "Role": (Link("store_user_roles", "What they may do there.", {**STORE, "userID": f"{BODY}UserID"}),),
}
# Links that need more than the shown record, by operation ID.
LEADS_TO_AFTER: dict[str, tuple[Link, ...]] = {
    "quote_create": (
        Link(
            "order_create",
            "Order the first option, with the same items.",
            IN_STORE,
            {
                "QuoteID": f"{BODY}QuoteID",
                "OptionID": f"{BODY}Options/0/OptionID",
                "Items": "$request.body#/Items",
            },
        ),
    )
}
# Operations that accept the ETag as If-Match.
WITH_ETAG = ("Order", "Webhook", "WebhookWithSecret")


def add_links(result: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A hook of drf-spectacular, for the finished document."""
    components = result["components"].setdefault("links", {})
    for operation, answer, shown, listed in _answers(result):
        links = LEADS_TO.get(shown, ()) + LEADS_TO_AFTER.get(operation, ())
        for link in links:
            if link.to == operation:
                continue
            name = f"{shown}{'.first' if listed else ''}.{link.to}"
            components[name] = _described(link, listed)
            answer.setdefault("links", {})[link.to] = {"$ref": f"#/components/links/{name}"}
        if shown in WITH_ETAG and not listed:
            tag = {"description": "The version shown here.", "schema": {"type": "string"}, "required": True}
            answer["headers"] = {**answer.get("headers", {}), "ETag": tag}
    return result


def _answers(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], str, bool]]:
    """ID of the operation, the answer, the component it shows, and whether a list of it."""
    for path in document["paths"].values():
        for operation in path.values():
            for status, answer in operation["responses"].items():
                schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
                listed = schema.get("type") == "array"
                reference = (schema["items"] if listed else schema).get("$ref")
                if status.startswith("2") and reference:
                    yield operation["operationId"], answer, reference.rpartition("/")[2], listed


def _described(link: Link, listed: bool) -> dict[str, Any]:
    # A list has no ETag of a single record.
    parameters = {name: value for name, value in link.parameters.items() if not (listed and name in ETAG)}
    described: dict[str, Any] = {
        "operationId": link.to,
        "description": (LISTED if listed else "") + link.says,
    }
    if parameters:
        described["parameters"] = _placed(parameters, listed)
    if link.body:
        described[LINKED_BODY] = _placed(link.body, listed)
    return described


def _placed(value: Any, listed: bool) -> Any:
    if isinstance(value, Mapping):
        return {name: _placed(one, listed) for name, one in value.items()}
    if isinstance(value, list):
        return [_placed(one, listed) for one in value]
    return value.replace(BODY, FIRST) if listed else value
