from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.callers import Caller
from fulfillment.core.errors import NotFound
from stores.orders.models import Order, OrderHistory, OrderItem
from stores.orders.representations import order_record
from stores.orders.selectors.access import StoreAccess, open_store


def find_order(opened: StoreAccess, reference: str, *, scope: Q | None = None) -> Order | None:
    """By OrderID or by @ExternalID; of several visible orders the caller's own is meant, then the application's.

    `scope` is one of `opened`; by default all that the caller sees.
    """
    orders = Order.objects.filter(opened.visible if scope is None else scope).select_related("store")
    if reference.startswith("@"):
        named = orders.filter(external_id=reference[1:]).order_by("position")
        own = named.filter(_name_space(opened.caller)).first()
        return own or named.filter(application=opened.caller.application_id).first() or named.first()
    try:
        return orders.filter(pk=UUID(reference)).first()
    except ValueError:
        return None


def order_for(
    caller: Caller, store_id: str, reference: str, permissions: tuple[str, ...]
) -> tuple[StoreAccess, Order]:
    opened = open_store(caller, store_id, permissions)
    order = find_order(opened, reference)
    if order is None:
        raise NotFound("There is no order with this ID for this caller.", code="order_not_found")
    return opened, order


def order_with_external_id(opened: StoreAccess, external_id: str) -> Order | None:
    """The order that has taken this ExternalID for the caller."""
    orders = Order.objects.filter(_name_space(opened.caller), store=opened.store, external_id=external_id)
    return orders.only("application", "user").first()


def is_own_order(caller: Caller, order: Order) -> bool:
    """Placed by this user, or for an application on its own through the application."""
    if caller.is_application:
        return order.application_id == caller.application_id
    return order.user_id == caller.user_id


def _name_space(caller: Caller) -> Q:
    """Where an ExternalID is unique: in an application, and in a first-party one for each of its users."""
    orders = Q(application=caller.application_id)
    return orders & Q(user=caller.user_id) if caller.is_first_party else orders


def full_record(
    order: Order, store_id: str, items: Iterable[OrderItem] | None = None, messages: Iterable[str] = ()
) -> dict[str, Any]:
    shipments = order.shipments.all() if order.tracking_numbers else ()
    known = order.items.all() if items is None else items
    return order_record(order, store_id, items=known, shipments=shipments, messages=messages)


def history_of(order: Order) -> QuerySet[OrderHistory]:
    return order.history.order_by("sequence")


def item_of(order: Order, item_key: str) -> OrderItem:
    try:
        return order.items.get(item_key=item_key)
    except OrderItem.DoesNotExist as error:
        raise NotFound("The order has no item of this name.", code="item_not_found") from error
