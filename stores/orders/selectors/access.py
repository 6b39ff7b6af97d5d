"""Who may do what with the orders of a store."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from accounts.callers import Caller
from accounts.models import Role
from accounts.permissions import Permission
from accounts.selectors.grants import effective_store_grants
from accounts.selectors.modes import in_mode, in_mode_of_new
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import Forbidden
from stores.catalog.models import Store
from stores.catalog.selectors.products import association_required
from stores.catalog.selectors.stores import unknown_store
from stores.orders.models import ActorKind

READ = (Permission.ORDER_ALL_READ.value, Permission.ORDER_SELF_READ.value)
WRITE = (Permission.ORDER_ALL_WRITE.value, Permission.ORDER_SELF_WRITE.value)
WORK = (Permission.ORDER_ALL_WRITE.value,)
STORE_FIELDS = (
    "id",
    "external_id",
    "company_name",
    "currency",
    "time_zone",
    "is_demo",
    "hold_window_minutes",
)
# The grants of the association, those of the person, and the store: what store_access_from_row judges.
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
    """A store, and whether the caller reaches all its orders there or only its own."""

    store: Store
    caller: Caller
    everything: bool

    @property
    def own(self) -> dict[str, Any]:
        """The orders and quotes of the caller itself, as a filter."""
        if self.caller.is_application:
            return {"application": self.caller.application_id}
        own = {"user": self.caller.user_id}
        if self.caller.third_party_id is not None:
            own["application"] = self.caller.third_party_id
        return own

    @property
    def visible(self) -> Q:
        """The orders and quotes that the caller may see, as a filter; every query of them begins with it."""
        scope = Q(store=self.store) if self.everything else Q(store=self.store, **self.own)
        return scope & in_mode(self.caller)

    @property
    def usable(self) -> Q:
        """Those that may become a part of what the caller makes: what is live is never made from test data."""
        return self.visible & in_mode_of_new(self.caller)


def open_store(caller: Caller, store_id: str, permissions: tuple[str, ...]) -> StoreAccess:
    """The store, if the caller holds one of `permissions` on it; the first of them reaches all orders."""
    return store_access_from_row(
        caller, store_id, permissions, fetch_row(STORE, access_parameters(caller, store_id))
    )


def access_parameters(caller: Caller, store_id: str) -> dict[str, Any]:
    """The parameters of STORE."""
    return {"application": caller.application_id, "user": caller.user_id, "store_id": store_id}


def store_access_from_row(
    caller: Caller, store_id: str, permissions: tuple[str, ...], row: tuple[Any, ...] | None
) -> StoreAccess:
    """The rule of `open_store`, for who has read a row of STORE already."""
    if row is None:
        raise unknown_store(store_id)
    associated, held, *values = row
    store = Store.from_db("default", STORE_FIELDS, values)
    granted = effective_store_grants(caller, associated=associated, held=held, is_demo=store.is_demo)
    if granted.isdisjoint(permissions):
        raise _refusal(caller, store, permissions)
    return StoreAccess(store, caller, everything=permissions[0] in granted)


def actor_kind(opened: StoreAccess) -> ActorKind:
    if opened.caller.is_operator:
        return ActorKind.OPERATOR
    if opened.caller.is_application:
        return ActorKind.APPLICATION
    return ActorKind.STORE if opened.everything and not opened.store.is_demo else ActorKind.USER


def _refusal(caller: Caller, store: Store, permissions: tuple[str, ...]) -> Forbidden:
    related = Q(application=caller.application_id, user__isnull=True, application__isnull=False)
    if caller.user_id is not None and caller.third_party_id is None:
        related = Q(user=caller.user_id)
    if not store.is_demo and not Role.objects.filter(related, store=store).exists():
        return association_required(store.external_id)
    wanted = " or ".join(permissions)
    return Forbidden(
        f"This takes the grant {wanted} on the store, and the scope of that name.", code="grant_missing"
    )
