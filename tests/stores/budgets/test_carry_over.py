"""What a period left over, and what it did not."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from uuid import uuid4

import pytest
import time_machine
from django.utils import timezone

from accounts.callers import Caller
from stores.budgets.models import Budget
from stores.budgets.selectors.standings import binding_standings
from stores.budgets.services.claims import count_in_budgets, release_order
from tests.factories.budgets import make_budget

pytestmark = pytest.mark.django_db


def test_carry_over_of_many_periods_stops_at_what_a_period_can_hold(shop):
    budget = make_budget(shop.store, Limit=10**12, Duration="Weekly", CarryOver=True)
    Budget.objects.update(start_date=date(2010, 1, 1), created=datetime(2010, 1, 1, tzinfo=UTC))

    assert shop.place().status_code == 201
    assert budget.periods.get().added == 10**13 - 10**12


def countable(shop, quantity):
    return SimpleNamespace(
        pk=uuid4(),
        store=shop.store,
        user_id=shop.world.user.pk,
        application_id=None,
        is_test=False,
        total=Decimal(12),
        total_quantity=quantity,
        created=timezone.now(),
    )


def test_order_placed_before_midnight_takes_nothing_that_was_carried_over(shop):
    """Another order opened the next period before this one was counted."""
    caller = Caller(user_id=shop.world.user.pk)
    with time_machine.travel(datetime(2026, 3, 31, 12, tzinfo=UTC), tick=False) as clock:
        budget = make_budget(shop.store, Type="Quantity", CarryOver=True, StartDate=date(2026, 3, 1))
        count_in_budgets(order=countable(shop, 40), caller=caller)
        late = countable(shop, 60)
        clock.shift(timedelta(days=1))
        count_in_budgets(order=countable(shop, 10), caller=caller)

        count_in_budgets(order=late, caller=caller)

    assert [period.used for period in budget.periods.order_by("number")] == [40, 70]


@pytest.mark.parametrize(("late", "carried"), [(timedelta(0), 60), (timedelta(microseconds=-1), 100)])
def test_what_came_back_after_the_period_is_not_carried_over(shop, late, carried):
    person = shop.world.user.pk
    with time_machine.travel(datetime(2026, 3, 31, 12, tzinfo=UTC), tick=False):
        budget = make_budget(shop.store, Type="Quantity", CarryOver=True, StartDate=date(2026, 3, 1))
        order = countable(shop, 40)
        count_in_budgets(order=order, caller=Caller(user_id=person))
    end = budget.periods.get().ends

    release_order(order=order, moment=end + late, caller=Caller(user_id=person))

    [april] = binding_standings(store=shop.store, user_id=person, application_id=None, moment=end)
    assert april.period.added == carried
