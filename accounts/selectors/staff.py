"""Store staff: users who may read every order or every role of a store, and work in the console."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.models import Role
from accounts.permissions import Permission, add_implied

STAFF_GRANTS = (
    Permission.STORE_ALL_READ,
    Permission.ORDER_ALL_READ,
    Permission.ORDER_ALL_WRITE,
    Permission.ORDER_ALL_APPROVE,
    Permission.BUDGET_ALL_WRITE,
)


@dataclass(frozen=True, slots=True)
class Staff:
    """A user's grants in the console, by store key; those under None apply to every store."""

    is_operator: bool
    grants: Mapping[int | None, frozenset[str]]

    @property
    def is_staff(self) -> bool:
        return self.is_operator or bool(self.grants)

    def holds(self, grants: Collection[str], store_id: int | None = None) -> bool:
        """Whether one of `grants` is held on this store or, without a store, on any."""
        if self.is_operator:
            return True
        stores = self.grants.keys() if store_id is None else {store_id, None}
        return any(not self.grants.get(store, frozenset()).isdisjoint(grants) for store in stores)

    def stores_with(self, grants: Collection[str]) -> list[int] | None:
        """Keys of the stores on which one of `grants` is held; None for every store."""
        if self.is_operator or not self.grants.get(None, frozenset()).isdisjoint(grants):
            return None
        return sorted(
            store for store, own in self.grants.items() if store is not None and not own.isdisjoint(grants)
        )

    def visible(self, records: QuerySet, store_path: str, grants: Collection[str]) -> QuerySet:
        stores = self.stores_with(grants)
        return records if stores is None else records.filter(**{f"{store_path}__in": stores})


def staff_roles(user: Any) -> QuerySet[Role]:
    return Role.objects.filter(user=user, application__isnull=True, grant__in=STAFF_GRANTS)


def people_with(grants: Collection[str], *, store_id: int) -> list[UUID]:
    """The active users who hold one of `grants` on the store by a role, also by one that is everywhere."""
    roles = Role.objects.filter(
        Q(store=store_id) | Q(store__isnull=True),
        application__isnull=True,
        user__is_active=True,
        grant__in=grants,
    )
    return sorted(set(roles.values_list("user", flat=True)))


def get_staff(user: Any) -> Staff:
    """One query, none for operators; an empty answer for inactive and signed-out users."""
    if not user.is_active or not user.is_authenticated:
        return Staff(is_operator=False, grants={})
    if user.is_operator:
        return Staff(is_operator=True, grants={})
    by_store: dict[int | None, set[str]] = defaultdict(set)
    for store_id, grant in staff_roles(user).values_list("store_id", "grant"):
        by_store[store_id].add(grant)
    return Staff(is_operator=False, grants={store: add_implied(names) for store, names in by_store.items()})
