"""Finds users by the names entered at the command line."""

from contextlib import suppress
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from accounts.names import prepared_name
from fulfillment.core.errors import Conflict, NotFound

# The number of matching users that a message lists.
SHOWN = 5


def find_user(text: str) -> User:
    """By full name (`name@domain`), by an e-mail address or a name that one person has.

    Raises NotFound, and Conflict where several fit: a full name can look like the e-mail address of another person.
    """
    users = User.objects.select_related("tenant").order_by("created")
    with suppress(ValueError):
        if user := users.filter(pk=UUID(text)).first():
            return user
    name, _, domain = text.rpartition("@")
    full = (
        list(users.filter(prepared_name=prepared_name(name), tenant__domain__iexact=domain)) if name else []
    )
    other = list(users.filter(Q(email__iexact=text) | Q(prepared_name=prepared_name(text)))[:SHOWN])
    found = {user.pk: user for user in [*full, *other]}
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise NotFound(
            f"No user has the full name or e-mail address {text}; write the full name, which is the user name with "
            "the domain of the organisation (olivia@print.example), or the e-mail address.",
            code="user_not_found",
        )
    # An ID is unambiguous in every case, also where a full name equals an e-mail address.
    shown = ", ".join(
        f"{user.username}@{user.tenant.domain} (e-mail {user.email}, ID {user.pk})" for user in found.values()
    )
    raise Conflict(
        f"{text} is the full name or e-mail address of {len(found)} people: {shown}. Write "
        "the ID of the one you mean.",
        code="user_ambiguous",
    )
