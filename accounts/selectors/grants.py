"""The permissions of a caller on a store or an application."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.callers import Caller
from accounts.models import Role
from accounts.permissions import (
    APPLICATION_GRANTS,
    DEFAULT_STORE_GRANTS,
    STORE_GRANTS,
    add_implied,
)


def grants_on_store(caller: Caller, store: Any) -> frozenset[str]:
    """The permissions that are granted to the caller on this store and included in its token.

    A user's role counts if it is on the store or over everything. Through a third-party application only the
    permissions of its association count. The demo store grants everyone the usual permissions of an association.
    """
    if caller.is_operator:
        return STORE_GRANTS
    association = Q(user__isnull=True, application=caller.application_id, store=store)
    person = Q(user=caller.user_id) & (Q(store=store) | Q(store__isnull=True, application__isnull=True))
    associated, own = _split(
        Role.objects.filter(association if caller.is_application else person | association)
    )
    return effective_store_grants(caller, associated=associated, held=own, is_demo=store.is_demo)


def effective_store_grants(
    caller: Caller, *, associated: Iterable[str], held: Iterable[str], is_demo: bool
) -> frozenset[str]:
    """The rule of `grants_on_store`, for callers that have read the grants of association and user."""
    if caller.is_operator:
        return STORE_GRANTS
    granted = add_implied(associated)
    if not caller.is_application:
        own = add_implied(held)
        granted = own if caller.third_party_id is None else own & granted
    if is_demo:
        granted |= frozenset(DEFAULT_STORE_GRANTS)
    return granted & caller.scopes & STORE_GRANTS


def grants_on_application(caller: Caller, application_id: UUID) -> frozenset[str]:
    """Does as `grants_on_store` for an application record; an application reads itself.

    Through a third-party application a user changes that application only: no association can join two
    applications, and a sign-in at one must not open the keys of another.
    """
    if caller.is_operator:
        return APPLICATION_GRANTS
    if caller.third_party_id not in {None, application_id}:
        return frozenset()
    if caller.is_application:
        own = {"Application.Self.Read"} if caller.application_id == application_id else set()
        return frozenset(own) & caller.scopes
    roles = Role.objects.filter(
        Q(application=application_id, store__isnull=True) | Q(application__isnull=True, store__isnull=True),
        user=caller.user_id,
    )
    return add_implied(roles.values_list("grant", flat=True)) & caller.scopes & APPLICATION_GRANTS


def _split(roles: Any) -> tuple[frozenset[str], frozenset[str]]:
    """Splits roles into grants of associations and of users, each with implied permissions."""
    rows = list(roles.values_list("user_id", "grant"))
    return (
        add_implied(grant for user, grant in rows if user is None),
        add_implied(grant for user, grant in rows if user is not None),
    )
