"""Schedules the steps of test orders with an outcome; stores.orders.services.simulation runs them."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from stores.orders.models import TEST_OUTCOME, Order, TestScenario

# The longest scenario has five steps; all of them take less than five seconds.
STEP = timedelta(seconds=0.5)


@transaction.atomic(savepoint=False)
def start_scenario(*, order: Order) -> None:
    """Starts the scenario in the transaction that writes the order; live orders have none."""
    outcome = order.metadata.get(TEST_OUTCOME) if order.is_test else None
    if outcome is not None:
        TestScenario.objects.create(order=order, outcome=outcome, due=timezone.now() + STEP)


@transaction.atomic(savepoint=False)
def resume_scenario(*, order: Order) -> None:
    """Makes the next step due at once, after a cancellation request."""
    if order.is_test:
        TestScenario.objects.filter(order=order).update(due=timezone.now() + STEP)
