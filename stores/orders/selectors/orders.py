from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from accounts.callers import Caller
from fulfillment.core.errors import NotFound
from fulfillment.core.identifiers import parse_uuid
from stores.orders.models import Order, OrderHistory, OrderItem
from stores.orders.representations import order_record
from stores.orders.selectors.access import StoreAccess, authorize_store


def find_order(access: StoreAccess, reference: str, *, scope: Q | None = None) -> Order | None:
    """By OrderID or by @ExternalID; of several visible orders the caller's own is meant, then the application's.

    `scope` is one of `access`; by default all that the caller sees.
    """
    orders = Order.objects.filter(access.visible if scope is None else scope).select_related("store")
    if reference.startswith("@"):
        named = orders.filter(external_id=reference[1:]).order_by("created", "id")
        own = named.filter(_external_id_scope(access.caller)).first()
        return own or named.filter(application=access.caller.application_id).first() or named.first()
    key = parse_uuid(reference)
    return orders.filter(pk=key).first() if key else None


def order_for(
    caller: Caller, store_id: str, reference: str, permissions: tuple[str, ...]
) -> tuple[StoreAccess, Order]:
    access = authorize_store(caller, store_id, permissions)
    order = find_order(access, reference)
    if order is None:
        raise NotFound(
            "There is no order with this OrderID for this caller. Write @ before an ExternalID; exportview finds an "
            "order by its OrderNumber.",
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
    shipments = order.shipments.all() if order.tracking_numbers else ()
    order_items = order.items.all() if items is None else items
    return order_record(order, store_id, items=order_items, shipments=shipments, messages=messages)


def history_of(order: Order) -> QuerySet[OrderHistory]:
    return order.history.order_by("sequence")


def item_of(order: Order, item_key: str) -> OrderItem:
    try:
        return order.items.get(item_key=item_key)
    except OrderItem.DoesNotExist as error:
        raise NotFound("The order has no item with this key.", code="item_not_found") from error
