"""Orders of a caller, an application and a person."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from accounts.callers import Caller
from accounts.models import Role, User
from applications.registration.models import Application
from applications.webhooks.models import Event
from applications.webhooks.selectors.deliveries import events_of_order
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import NotFound
from fulfillment.core.plugins import offered_values
from fulfillment.core.text import parse_uuid
from stores.catalog.models import Store
from stores.orders.models import Order, OrderHistory, OrderItem
from stores.orders.representations import order_record
from stores.orders.selectors.access import READ, WRITE, StoreAccess, authorize_store
from stores.orders.selectors.approvals import approval_record
from stores.orders.selectors.search import search_orders

STORED_BYTES = """
SELECT coalesce(sum(
    coalesce(pg_column_size(template_data), 0) + coalesce(pg_column_size(eddm), 0)
    + coalesce(pg_column_size(preflight), 0)
), 0)::bigint FROM stores_orderitem WHERE order_id = %s
"""
MAX_NUMBER = 2**63 - 1
EVENTS_SHOWN = 100
# Reads by the index of each store's orders of an application or a person, so that a page costs the same among millions.
PAGE = """
SELECT found.id FROM unnest(%(stores)s::bigint[]) AS store(id) CROSS JOIN LATERAL (
    SELECT id, number FROM stores_order
    WHERE store_id = store.id AND {owner} AND number < %(limit)s
    ORDER BY created DESC, id DESC LIMIT %(take)s
) found ORDER BY found.number DESC LIMIT %(take)s
"""
OF_APPLICATION = PAGE.format(
    owner="application_id = %(application)s AND (%(user)s::uuid IS NULL OR user_id = %(user)s::uuid)"
)
OF_PERSON = PAGE.format(
    owner="user_id = %(user)s AND (application_id IS NULL OR application_id = ANY(%(built_in)s::uuid[]))"
)


def find_order(access: StoreAccess, reference: str, *, scope: Q | None = None) -> Order | None:
    """The order by OrderID or @ExternalID; of several visible orders the caller's own is meant, then the application's.

    `scope` is one of `access`; by default all that the caller sees.
    """
    orders = Order.objects.filter(access.visible if scope is None else scope).select_related("store")
    if reference.startswith("@"):
        matching = orders.filter(external_id=reference[1:]).order_by("created", "id")
        own = matching.filter(_external_id_scope(access.caller)).first()
        return own or matching.filter(application=access.caller.application_id).first() or matching.first()
    key = parse_uuid(reference)
    return orders.filter(pk=key).first() if key else None


def order_for(
    caller: Caller, store_id: str, reference: str, permissions: tuple[str, ...]
) -> tuple[StoreAccess, Order]:
    access = authorize_store(caller, store_id, permissions)
    order = find_order(access, reference)
    if order is None:
        raise NotFound(
            _(
                "There is no order with this OrderID for this caller. Write @ before an ExternalID; exportview finds "
                "an order by its OrderNumber."
            ),
            code="order_not_found",
        )
    return access, order


def order_with_external_id(access: StoreAccess, external_id: str) -> Order | None:
    """The existing order with this ExternalID in the caller's scope."""
    orders = Order.objects.filter(
        _external_id_scope(access.caller), store=access.store, external_id=external_id
    )
    return orders.only("application", "user").first()


def is_own_order(caller: Caller, order: Order) -> bool:
    """Whether the calling user placed the order; for an application without a user, whether the application did."""
    if caller.is_application:
        return order.application_id == caller.application_id
    return order.user_id == caller.user_id


def _external_id_scope(caller: Caller) -> Q:
    """The orders among which an ExternalID is unique: the application's, or the user's in a first-party one."""
    orders = Q(application=caller.application_id)
    return orders & Q(user=caller.user_id) if caller.is_first_party else orders


def full_record(
    order: Order, store_id: str, items: Iterable[OrderItem] | None = None, messages: Iterable[str] = ()
) -> dict[str, Any]:
    """The record of the API; `items` are those of an order that is just being placed on its own."""
    shipments = order.shipments.all() if order.tracking_numbers else ()
    record = order_record(
        order,
        store_id,
        items=order.items.all() if items is None else items,
        shipments=shipments,
        approval=approval_record(order),
        messages=messages,
    )
    if items is None:
        for complete_record in offered_values("order_record", "complete_record"):
            complete_record(order=order, record=record)
    return record


def stored_bytes(order: Order) -> int:
    """What the long columns of its items take, compressed: they are not read for it."""
    return int(fetch_rows(STORED_BYTES, [order.pk])[0][0])


def history_of(order: Order) -> QuerySet[OrderHistory]:
    return order.history.order_by("sequence")


def item_of(order: Order, item_key: str) -> OrderItem:
    try:
        return order.items.get(item_key=item_key)
    except OrderItem.DoesNotExist as error:
        raise NotFound(_("The order has no item with this key."), code="item_not_found") from error


@dataclass(frozen=True, slots=True)
class OrdersAccess:
    """Which orders of an application a user sees: all of them, or the user's own.

    Without an application: those the user placed in the portal or with a built-in application.
    """

    application: Application | None
    stores: QuerySet[Store]
    user_id: UUID | None

    @property
    def store_ids(self) -> list[int]:
        return list(self.stores.values_list("pk", flat=True))

    def visible_in(self, stores: list[int] | QuerySet) -> Q:
        own = {} if self.user_id is None else {"user": self.user_id}
        if self.application is None:
            return Q(store__in=stores, **own) & (Q(application=None) | Q(application__is_first_party=True))
        return Q(application=self.application, store__in=stores, **own)


def orders_access(application: Application, user: User, *, may_write: bool) -> OrdersAccess:
    """Users who may read the application's keys see all its orders; others see the orders they placed with it.

    Stores whose association has ended, or no longer grants reading, show no orders.
    """
    stores = Store.objects.filter(
        Q(is_demo=True)
        | Q(
            pk__in=Role.objects.filter(
                application=application, user__isnull=True, store__isnull=False, grant__in=READ
            ).values("store")
        )
    ).order_by()
    sees_all = may_write and not application.is_first_party
    return OrdersAccess(application, stores, None if sees_all else user.pk)


def own_orders_access(user: User) -> OrdersAccess:
    """Stores where the user may no longer order or read orders show none."""
    roles = Role.objects.filter(user=user, application__isnull=True, grant__in=(*READ, *WRITE))
    stores = Store.objects.order_by()
    if not user.is_operator and not roles.filter(store__isnull=True).exists():
        stores = stores.filter(Q(is_demo=True) | Q(pk__in=roles.values("store")))
    return OrdersAccess(None, stores, user.pk)


def newest_orders(access: OrdersAccess, *, before: int | None, take: int) -> list[Order]:
    """Newest first, below the number `before`."""
    limit = MAX_NUMBER if before is None else min(before, MAX_NUMBER)
    parameters = {"stores": access.store_ids, "user": access.user_id, "limit": limit, "take": take}
    if access.application is None:
        built_in = list(Application.objects.filter(is_first_party=True).values_list("pk", flat=True))
        rows = fetch_rows(OF_PERSON, parameters | {"built_in": built_in})
    else:
        rows = fetch_rows(OF_APPLICATION, parameters | {"application": access.application.pk})
    ids = [row[0] for row in rows]
    return list(_orders_to_show().filter(pk__in=ids).order_by("-number"))


def orders_named(access: OrdersAccess, text: str, *, take: int) -> list[Order]:
    visible = _orders_to_show().filter(access.visible_in(access.store_ids)).order_by("-number")
    application = None if access.application is None else access.application.pk
    result = search_orders(visible, text, application=application, user=access.user_id)
    return list(result.orders[:take])


def first_items_of(order_ids: Collection[UUID]) -> dict[UUID, OrderItem]:
    """The first item of each order, with what lists show; `has_template` says whether a proof can be drawn."""
    items = OrderItem.objects.filter(order__in=order_ids, position=0).annotate(
        has_template=Q(product__template__isnull=False)
    )
    shown = "product_external_id", "product_version", "product_name", "quantity", "print_file", "print_sha256"
    return {item.order_id: item for item in items.only("order_id", "position", *shown)}


def visible_order(access: OrdersAccess, order_id: str) -> Order:
    visible = access.visible_in(access.stores.values("pk"))
    shown = _orders_to_show().select_related("approval_request").prefetch_related("shipments")
    key = parse_uuid(order_id)
    order = shown.filter(visible, pk=key).first() if key else None
    if order is None:
        raise NotFound(_("There is no such order, or you may not see it."))
    return order


def events_sent_to(application: Application, order: Order) -> list[Event]:
    """The events of an order as sent to the application, oldest first, with their deliveries."""
    events = events_of_order(order.pk).filter(application=application)
    return list(events.order_by("transaction", "id")[:EVENTS_SHOWN])


def _orders_to_show() -> QuerySet[Order]:
    return Order.objects.select_related("store").defer(
        "rendering", "store__rendering", "store__verbose_rendering"
    )
