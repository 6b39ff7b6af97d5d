"""Names in the client libraries, which the API reference shows as well: `order_create` is `client.orders.create`."""

import re

# First words of an operationId, and the group of the operation.
GROUPS = {
    "application_event": "events",
    "application_request": "requests",
    "delivery_eddm": "eddm",
    "store_user": "stores",
}
# Exceptions to the rule, for readable names.
METHODS = {
    "delivery_eddm_selection_create": "select",
    "delivery_eddm_selection_read": "get_selection",
    "application_icon_read": "get_icon",
    "application_icon_set": "set_icon",
    "application_key_regenerate": "regenerate_key",
    "order_cancel_refuse": "refuse_cancellation",
    "order_exportview": "export",
    "order_status": "set_status",
    "store_user_roles": "user_roles",
    "user_emails": "find_emails",
    "user_self": "me",
    "webhook_delivery_list": "list_deliveries",
    "webhook_delivery_resend": "resend_delivery",
}
WORDS = {"read": "get", "change": "update"}
# Idempotent operations, which may be resent without an Idempotency-Key.
REPEATABLE = frozenset({"proof_create", "user_emails", "order_cancel", "webhook_enable"})


def group_of(operation: str) -> str:
    for start, group in GROUPS.items():
        if operation.startswith(f"{start}_"):
            return group
    return operation.partition("_")[0] + "s"


def method_of(operation: str) -> str:
    if operation in METHODS:
        return METHODS[operation]
    start = next(
        (start for start in GROUPS if operation.startswith(f"{start}_")), operation.partition("_")[0]
    )
    rest = operation.removeprefix(f"{start}_")
    return WORDS.get(rest, rest)


def snake(name: str) -> str:
    """`storeID` and `If-Match` as Python writes them."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.replace("-", "_")).lower()


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def pascal(name: str) -> str:
    return "".join(word[0].upper() + word[1:] for word in name.split("_"))
