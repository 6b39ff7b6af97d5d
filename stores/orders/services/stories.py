"""When a test order with an outcome takes its next step; stores.orders.services.story_steps takes it."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from stores.orders.models import TEST_OUTCOME, Order, OrderStory

# The longest story has five steps, and every status is there within five seconds.
STEP = timedelta(seconds=0.5)


@transaction.atomic(savepoint=False)
def begin_story(*, order: Order) -> None:
    """With the order itself; a live order has none, whatever its metadata says."""
    outcome = order.metadata.get(TEST_OUTCOME) if order.is_test else None
    if outcome is not None:
        OrderStory.objects.create(order=order, outcome=outcome, due=timezone.now() + STEP)


@transaction.atomic(savepoint=False)
def wake_story(*, order: Order) -> None:
    """A cancellation was requested: the story answers it with its next step."""
    if order.is_test:
        OrderStory.objects.filter(order=order).update(due=timezone.now() + STEP)
