"""Declarations for the OpenAPI document and the client libraries (`fulfillment.core.api.declarations`)."""

from fulfillment.core.api.client_names import ClientNames
from fulfillment.core.api.declarations import BODY, Link, Tag

TAGS = (Tag("Users", "Accounts and their roles.", 100),)
ENUMS = {
    "GrantEnum": "accounts.permissions.Grant",
    "AssociationStateEnum": "accounts.models.AssociationState",
}
CLIENT_NAMES = ClientNames(
    methods={"user_emails": "find_emails", "user_self": "me"}, repeatable=frozenset({"user_emails"})
)

LINKS = {
    "User": (Link("user_roles", "What they may do, for operators.", {"userID": f"{BODY}ID"}),),
}
