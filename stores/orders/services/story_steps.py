"""Plays the store for test orders: a worker moves them to their requested outcome."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from fulfillment.core.errors import DomainError
from stores.orders.models import (
    ActorKind,
    CancellationState,
    Order,
    OrderStatus,
    OrderStory,
    TestOutcome,
)
from stores.orders.models.status import WITH_SHIPMENTS
from stores.orders.services.simulation import simulated_parcel
from stores.orders.services.stories import STEP
from stores.orders.services.transitions import Actor, lock_order, refuse_cancellation, transition_order

logger = logging.getLogger(__name__)

S = OrderStatus
# The statuses of stories after Received. An order in any other status has left its story.
PATHS: dict[str, tuple[OrderStatus, ...]] = {
    TestOutcome.REJECTED: (S.REJECTED,),
    TestOutcome.ON_HOLD: (S.ON_HOLD,),
    TestOutcome.PARTIALLY_SHIPPED: (S.ACCEPTED, S.IN_PRODUCTION, S.PARTIALLY_SHIPPED),
    TestOutcome.DELIVERED: (S.ACCEPTED, S.IN_PRODUCTION, S.SHIPPED, S.DELIVERED),
    TestOutcome.RETURNED: (S.ACCEPTED, S.IN_PRODUCTION, S.SHIPPED, S.DELIVERED, S.RETURNED),
    TestOutcome.CANCEL_REFUSED: (S.ACCEPTED, S.IN_PRODUCTION),
}
STEPS_AT_ONCE = 100
PUT_OFF = timedelta(minutes=1)
ACTOR = Actor(ActorKind.SYSTEM)
NOTE = "Simulated"


def due_stories() -> Sequence[UUID]:
    """The orders whose next step is due, the longest waiting first."""
    due = OrderStory.objects.filter(due__lte=timezone.now()).order_by("due")
    return list(due.values_list("order_id", flat=True)[:STEPS_AT_ONCE])


@transaction.atomic
def run_step(*, order_id: UUID) -> bool:
    """Runs the next step of an order's story; False if another worker holds it."""
    order = Order.objects.select_related("store").filter(pk=order_id).first()
    if order is None:
        return False
    locked = lock_order(order, ())
    story = OrderStory.objects.filter(order=locked, due__lte=timezone.now()).first()
    if story is None:
        return False
    try:
        with transaction.atomic():
            continues = _step(locked, story)
    except DomainError as error:
        # Another user moved the order to a status that is not part of this story.
        logger.info("The story of test order %s ends: %s", locked, error.message)
        continues = False
    if continues:
        story.save(update_fields=["due"])
    else:
        story.delete()
    return True


def postpone_step(*, order_id: UUID) -> None:
    """Delays a step that failed with an unexpected error."""
    OrderStory.objects.filter(pk=order_id).update(due=timezone.now() + PUT_OFF)


def _step(order: Order, story: OrderStory) -> bool:
    """Runs one step; returns whether another one can follow, at `due` of the story."""
    if order.cancellation == CancellationState.REQUESTED:
        if story.outcome == TestOutcome.CANCEL_REFUSED:
            refuse_cancellation(order=order, actor=ACTOR, note=NOTE)
            story.due = timezone.now() + STEP
            return order.status != S.IN_PRODUCTION
        transition_order(order=order, status=S.CANCELLED, actor=ACTOR, note=NOTE)
        return False
    following = _following(order, PATHS[story.outcome])
    if following is None:
        return False
    parcels = [simulated_parcel(order)] if following in WITH_SHIPMENTS else []
    transition_order(order=order, status=following, actor=ACTOR, note=NOTE, parcels=parcels)
    ends = following == PATHS[story.outcome][-1]
    was_requested = order.cancellation == CancellationState.REFUSED
    if ends and story.outcome == TestOutcome.CANCEL_REFUSED and not was_requested:
        story.due = None
        return True
    story.due = timezone.now() + STEP
    return not ends


def _following(order: Order, path: Sequence[OrderStatus]) -> OrderStatus | None:
    if order.status == S.RECEIVED:
        return path[0]
    if order.status not in path[:-1]:
        return None
    return path[path.index(OrderStatus(order.status)) + 1]
