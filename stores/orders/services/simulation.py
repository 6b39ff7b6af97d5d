"""Moves orders of the demo store and test orders to their next status, as a store would."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from fulfillment.core.errors import Conflict, PreconditionFailed
from stores.orders.models import TEST_OUTCOME, ActorKind, CancellationState, Order, OrderStatus
from stores.orders.models.status import DEMO_NEXT_STATUS
from stores.orders.representations import order_etag
from stores.orders.services.transitions import Actor, Parcel, lock_order, transition_order


@transaction.atomic
def advance_order(*, order: Order, actor: Actor, if_match: Sequence[str] = ()) -> Order:
    """Moves an order of the demo store, or a test order anywhere, one status on, as a store would."""
    if not can_be_advanced(order):
        message = "Only test orders and orders of the demo store can be advanced."
        raise Conflict(message, code="not_demo_store")
    locked = lock_order(order, if_match)
    following = following_status(locked)
    if following is None:
        name = OrderStatus(locked.status).label
        raise Conflict(
            _("The order is %(name)s, which is its last status.") % {"name": name}, code="order_at_its_end"
        )
    parcels = [simulated_parcel(locked)] if following == OrderStatus.SHIPPED else []
    return transition_order(order=locked, status=following, actor=actor, note="Simulated", parcels=parcels)


def can_be_advanced(order: Order) -> bool:
    return bool(order.store.is_demo or order.is_test)


def following_status(order: Order) -> OrderStatus | None:
    """The status that `advance_order` moves the order to; None if it has its last one."""
    if order.cancellation == CancellationState.REQUESTED:
        return OrderStatus.CANCELLED
    following = DEMO_NEXT_STATUS.get(order.status)
    return None if following is None else OrderStatus(following)


def simulated_parcel(order: Order) -> Parcel:
    mark = "TEST" if order.is_test else "DEMO"
    return Parcel(f"{mark.capitalize()} Carrier", f"{mark}{order.number}")


def advance_demo_orders(*, older_than: timedelta) -> int:
    """Advances each order of the demo store that has not changed for `older_than`; returns how many.

    Those with a scenario of their own are left to it.
    """
    waiting = Order.objects.filter(
        store__is_demo=True, status__in=DEMO_NEXT_STATUS, updated__lte=timezone.now() - older_than
    ).select_related("store")
    waiting = waiting.exclude(is_test=True, metadata__has_key=TEST_OUTCOME)
    orders = list(waiting.order_by("created", "id"))
    for order in orders:
        # One transaction each, so that a long queue does not block other orders of the store.
        with suppress(PreconditionFailed):
            advance_order(order=order, actor=Actor(ActorKind.SYSTEM), if_match=[order_etag(order)])
    return len(orders)
