"""Plays the store: moves orders of the demo store and test orders on, and test orders to their requested outcome."""

import logging
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from fulfillment.core.errors import Conflict, DomainError, PreconditionFailed
from stores.orders.models import (
    TEST_OUTCOME,
    CancellationState,
    Order,
    OrderStatus,
    TestOutcome,
    TestScenario,
)
from stores.orders.models.status import DEMO_NEXT_STATUS, WITH_SHIPMENTS
from stores.orders.representations import order_etag
from stores.orders.services.cancellation import refuse_cancellation
from stores.orders.services.changes import SYSTEM, Actor, lock_order
from stores.orders.services.scenarios import STEP
from stores.orders.services.transitions import Parcel, transition_order

logger = logging.getLogger(__name__)

_USUAL_PATH = (
    *(OrderStatus.ACCEPTED, OrderStatus.IN_PRODUCTION, OrderStatus.SHIPPED),
    *(OrderStatus.DELIVERED, OrderStatus.RETURNED),
)
# The statuses of scenarios after Received. An order in any other status has left its scenario.
PATHS: dict[str, tuple[OrderStatus, ...]] = {
    TestOutcome.REJECTED: (OrderStatus.REJECTED,),
    TestOutcome.ON_HOLD: (OrderStatus.ON_HOLD,),
    TestOutcome.PARTIALLY_SHIPPED: (*_USUAL_PATH[:2], OrderStatus.PARTIALLY_SHIPPED),
    TestOutcome.DELIVERED: _USUAL_PATH[:4],
    TestOutcome.RETURNED: _USUAL_PATH,
    TestOutcome.CANCEL_REFUSED: _USUAL_PATH[:2],
}
# The step of a killed worker is due again after so long.
LEASE = timedelta(seconds=10)
PUT_OFF = timedelta(minutes=1)
NOTE = "Simulated"


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
    return transition_order(order=locked, status=following, actor=actor, note=NOTE, parcels=parcels)


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
        # One transaction each, so that neither a long queue nor a refused order holds up other orders of the store.
        with suppress(Conflict, PreconditionFailed):
            advance_order(order=order, actor=SYSTEM, if_match=[order_etag(order)])
    return len(orders)


@transaction.atomic
def claim_due_scenarios(*, limit: int, under_way: Collection[UUID] = ()) -> Sequence[UUID]:
    """Claims the orders whose next step is due, the longest waiting first."""
    now = timezone.now()
    due = TestScenario.objects.filter(due__lte=now).exclude(pk__in=under_way).order_by("due")
    order_ids = list(
        due.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)[:limit]
    )
    if order_ids:
        TestScenario.objects.filter(pk__in=order_ids).update(due=now + LEASE)
    return order_ids


@transaction.atomic
def run_step(*, order_id: UUID) -> bool:
    """Runs the next step of an order's scenario; False if there is none."""
    order = Order.objects.select_related("store").filter(pk=order_id).first()
    if order is None:
        return False
    locked = lock_order(order)
    scenario = TestScenario.objects.filter(order=locked, due__isnull=False).first()
    if scenario is None:
        return False
    try:
        with transaction.atomic():
            continues = _take_step(locked, scenario)
    except DomainError as error:
        # Another user moved the order to a status that is not part of this scenario.
        logger.info("The scenario of test order %s ends: %s", locked, error.message)
        continues = False
    if continues:
        scenario.save(update_fields=["due"])
    else:
        scenario.delete()
    return True


def postpone_step(*, order_id: UUID) -> None:
    """Delays a step that failed with an unexpected error."""
    TestScenario.objects.filter(pk=order_id).update(due=timezone.now() + PUT_OFF)


def _take_step(order: Order, scenario: TestScenario) -> bool:
    """Runs one step; returns whether another one can follow, at `due` of the scenario."""
    if order.cancellation == CancellationState.REQUESTED:
        if scenario.outcome == TestOutcome.CANCEL_REFUSED:
            refuse_cancellation(order=order, actor=SYSTEM, note=NOTE)
            scenario.due = timezone.now() + STEP
            return order.status != OrderStatus.IN_PRODUCTION
        transition_order(order=order, status=OrderStatus.CANCELLED, actor=SYSTEM, note=NOTE)
        return False
    following = _find_next(order, PATHS[scenario.outcome])
    if following is None:
        return False
    parcels = [simulated_parcel(order)] if following in WITH_SHIPMENTS else []
    transition_order(order=order, status=following, actor=SYSTEM, note=NOTE, parcels=parcels)
    ends = following == PATHS[scenario.outcome][-1]
    was_requested = order.cancellation == CancellationState.REFUSED
    if ends and scenario.outcome == TestOutcome.CANCEL_REFUSED and not was_requested:
        scenario.due = None
        return True
    scenario.due = timezone.now() + STEP
    return not ends


def _find_next(order: Order, path: Sequence[OrderStatus]) -> OrderStatus | None:
    if order.status == OrderStatus.RECEIVED:
        return path[0]
    if order.status not in path[:-1]:
        return None
    return path[path.index(OrderStatus(order.status)) + 1]
