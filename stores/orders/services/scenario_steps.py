"""Plays the store for test orders: a worker moves them to their requested outcome."""

import logging
from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from fulfillment.core.errors import DomainError
from stores.orders.models import ActorKind, CancellationState, Order, OrderStatus, TestOutcome, TestScenario
from stores.orders.models.status import WITH_SHIPMENTS
from stores.orders.services.scenarios import STEP
from stores.orders.services.simulation import simulated_parcel
from stores.orders.services.transitions import Actor, lock_order, refuse_cancellation, transition_order

logger = logging.getLogger(__name__)

S = OrderStatus
# The statuses of scenarios after Received. An order in any other status has left its scenario.
PATHS: dict[str, tuple[OrderStatus, ...]] = {
    TestOutcome.REJECTED: (S.REJECTED,),
    TestOutcome.ON_HOLD: (S.ON_HOLD,),
    TestOutcome.PARTIALLY_SHIPPED: (S.ACCEPTED, S.IN_PRODUCTION, S.PARTIALLY_SHIPPED),
    TestOutcome.DELIVERED: (S.ACCEPTED, S.IN_PRODUCTION, S.SHIPPED, S.DELIVERED),
    TestOutcome.RETURNED: (S.ACCEPTED, S.IN_PRODUCTION, S.SHIPPED, S.DELIVERED, S.RETURNED),
    TestOutcome.CANCEL_REFUSED: (S.ACCEPTED, S.IN_PRODUCTION),
}
# The step of a killed worker is due again after so long.
LEASE = timedelta(seconds=10)
PUT_OFF = timedelta(minutes=1)
ACTOR = Actor(ActorKind.SYSTEM)
NOTE = "Simulated"


@transaction.atomic
def claim_due_scenarios(*, limit: int, under_way: Collection[UUID] = ()) -> Sequence[UUID]:
    """Claims the orders whose next step is due, the longest waiting first."""
    now = timezone.now()
    due = TestScenario.objects.filter(due__lte=now).exclude(pk__in=under_way).order_by("due")
    found = list(due.select_for_update(skip_locked=True, no_key=True).values_list("pk", flat=True)[:limit])
    if found:
        TestScenario.objects.filter(pk__in=found).update(due=now + LEASE)
    return found


@transaction.atomic
def run_step(*, order_id: UUID) -> bool:
    """Runs the next step of an order's scenario; False if there is none."""
    order = Order.objects.select_related("store").filter(pk=order_id).first()
    if order is None:
        return False
    locked = lock_order(order, ())
    scenario = TestScenario.objects.filter(order=locked, due__isnull=False).first()
    if scenario is None:
        return False
    try:
        with transaction.atomic():
            continues = _step(locked, scenario)
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


def _step(order: Order, scenario: TestScenario) -> bool:
    """Runs one step; returns whether another one can follow, at `due` of the scenario."""
    if order.cancellation == CancellationState.REQUESTED:
        if scenario.outcome == TestOutcome.CANCEL_REFUSED:
            refuse_cancellation(order=order, actor=ACTOR, note=NOTE)
            scenario.due = timezone.now() + STEP
            return order.status != S.IN_PRODUCTION
        transition_order(order=order, status=S.CANCELLED, actor=ACTOR, note=NOTE)
        return False
    following = _following(order, PATHS[scenario.outcome])
    if following is None:
        return False
    parcels = [simulated_parcel(order)] if following in WITH_SHIPMENTS else []
    transition_order(order=order, status=following, actor=ACTOR, note=NOTE, parcels=parcels)
    ends = following == PATHS[scenario.outcome][-1]
    was_requested = order.cancellation == CancellationState.REFUSED
    if ends and scenario.outcome == TestOutcome.CANCEL_REFUSED and not was_requested:
        scenario.due = None
        return True
    scenario.due = timezone.now() + STEP
    return not ends


def _following(order: Order, path: Sequence[OrderStatus]) -> OrderStatus | None:
    if order.status == S.RECEIVED:
        return path[0]
    if order.status not in path[:-1]:
        return None
    return path[path.index(OrderStatus(order.status)) + 1]
