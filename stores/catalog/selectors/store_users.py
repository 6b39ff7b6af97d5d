from typing import Any
from uuid import UUID

from accounts.callers import Caller
from accounts.models import Role
from accounts.permissions import Permission
from accounts.selectors.grants import grants_on_store
from accounts.selectors.users import user_by_id
from fulfillment.core.errors import Forbidden
from stores.catalog.models import Store
from stores.catalog.selectors.products import association_required
from stores.catalog.selectors.stores import unknown_store


def store_user_roles(caller: Caller, store_id: str, user_id: str) -> list[Role]:
    """The roles of a user on a store; with `Store.Self.Read`, and on the demo store, only the caller's own."""
    store = Store.objects.filter(external_id=store_id).only("external_id", "is_demo").first()
    if store is None:
        raise unknown_store(store_id)
    _check_grants(caller, store, is_self=_is_self(caller, user_id))
    user = user_by_id(user_id)
    if store.is_demo and user.pk != caller.user_id:
        return []
    return list(Role.objects.filter(user=user, store=store).order_by("pk"))


def _check_grants(caller: Caller, store: Store, *, is_self: bool) -> None:
    granted = grants_on_store(caller, store)
    if Permission.STORE_ALL_READ in granted:
        return
    if Permission.STORE_SELF_READ not in granted:
        if Role.objects.filter(user=caller.user_id, store=store).exists():
            raise Forbidden(
                "This requires the grant Store.Self.Read or Store.All.Read on the store, and its scope.",
                code="grant_missing",
            )
        raise association_required(store.external_id)
    if not is_self and not store.is_demo:
        raise Forbidden(
            "With Store.Self.Read you can read only your own roles; the roles of others require Store.All.Read.",
            code="grant_missing",
        )


def _is_self(caller: Caller, user_id: Any) -> bool:
    try:
        return UUID(user_id) == caller.user_id
    except ValueError:
        return False
