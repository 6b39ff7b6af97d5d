"""Access of callers to the orders of a store."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from accounts.callers import Caller, in_mode, usable_in_mode
from accounts.permissions import Permission
from accounts.selectors.grants import effective_store_grants
from fulfillment.core.db.prepared import fetch_row
from stores.catalog.models import Store
from stores.catalog.selectors.products import store_refusal
from stores.catalog.selectors.stores import unknown_store
from stores.orders.models import ActorKind

READ = (Permission.ORDER_ALL_READ.value, Permission.ORDER_SELF_READ.value)
WRITE = (Permission.ORDER_ALL_WRITE.value, Permission.ORDER_SELF_WRITE.value)
WORK = (Permission.ORDER_ALL_WRITE.value,)
APPROVE = (Permission.ORDER_ALL_APPROVE.value,)
STORE_FIELDS = (
    "id",
    "external_id",
    "company_name",
    "currency",
    "time_zone",
    "is_demo",
    "budget_enabled",
    "hold_window_minutes",
    "approval_above",
    "approval_hours",
)
# The grants of the application's association, those of the user, and the store.
STORE = f"""
SELECT array(SELECT role.grant FROM accounts_role role
             WHERE role.application_id = %(application)s AND role.store_id = store.id AND role.user_id IS NULL)
           AS associated,
       array(SELECT role.grant FROM accounts_role role
             WHERE role.user_id = %(user)s
               AND (role.store_id = store.id OR (role.store_id IS NULL AND role.application_id IS NULL)))
           AS held,
       {", ".join(f"store.{name}" for name in STORE_FIELDS)}
FROM stores_store store WHERE store.external_id = %(store_id)s
"""  # noqa: S608 - names of our columns


@dataclass(frozen=True, slots=True)
class StoreAccess:
    """A store, and whether the caller can access all of its orders or only the caller's own."""

    store: Store
    caller: Caller
    sees_all_orders: bool

    @property
    def own(self) -> dict[str, Any]:
        """A filter for the caller's own orders and quotes."""
        if self.caller.is_application:
            return {"application": self.caller.application_id}
        own = {"user": self.caller.user_id}
        if self.caller.third_party_id is not None:
            own["application"] = self.caller.third_party_id
        return own

    @property
    def owner_filter(self) -> dict[str, Any]:
        """Limits orders and quotes of the store to the caller's own, unless the caller sees all."""
        return {} if self.sees_all_orders else self.own

    @property
    def visible(self) -> Q:
        """A filter for the orders and quotes visible to the caller; every query starts with it."""
        return Q(store=self.store, **self.owner_filter) & in_mode(self.caller)

    @property
    def usable(self) -> Q:
        """A filter for quotes and orders that may be used in a new order: live orders never use test data."""
        return self.visible & usable_in_mode(self.caller)


def authorize_store(caller: Caller, store_id: str, permissions: tuple[str, ...]) -> StoreAccess:
    """The store, if the caller has one of `permissions` on it; the first of them gives access to all orders."""
    names = {"application": caller.application_id, "user": caller.user_id, "store_id": store_id}
    row = fetch_row(STORE, names)
    if row is None:
        raise unknown_store(store_id)
    associated, held, *columns = row
    store = Store.from_db("default", STORE_FIELDS, columns)
    granted = effective_store_grants(caller, associated=associated, held=held, is_demo=store.is_demo)
    if granted.isdisjoint(permissions):
        raise store_refusal(caller, store, permissions)
    return StoreAccess(store, caller, sees_all_orders=permissions[0] in granted)


def actor_kind(access: StoreAccess) -> ActorKind:
    if access.caller.is_operator:
        return ActorKind.OPERATOR
    if access.caller.is_application:
        return ActorKind.APPLICATION
    return ActorKind.STORE if access.sees_all_orders and not access.store.is_demo else ActorKind.USER
