"""Declarations for the OpenAPI document and the client libraries (`fulfillment.core.api.declarations`)."""

from fulfillment.core.api.declarations import BODY, ClientNames, Link, Tag

TAGS = (Tag("Users", "Accounts and their roles.", 100),)
ENUMS = {
    "GrantEnum": "accounts.permissions.GRANTS",
    "AssociationStateEnum": "accounts.models.AssociationState",
}
CLIENT_NAMES = ClientNames(
    methods={"user_emails": "find_emails", "user_self": "me"}, repeatable=frozenset({"user_emails"})
)

LINKS = {
    "User": (Link("user_roles", "Read their roles (operators only).", {"userID": f"{BODY}ID"}),),
}

# What people type to find an operation, beside its own words.
SEARCHED_AS = {
    "user_create": "sign up; create an account; add a user; register a user; invite a user",
    "user_self": "who am i; current user; my account; me; my profile",
    "user_roles": "roles; permissions of a user; what may a user do",
    "user_emails": "find a user by email; check an email; does a user exist",
}
