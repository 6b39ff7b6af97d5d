"""Budgets that are reserved for orders before these are written."""

from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from uuid import uuid4

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.errors import Conflict
from stores.budgets.models import BudgetEntry, BudgetReservation
from stores.budgets.services import count_order, release_order, release_reservation, reserve_budgets
from stores.budgets.services.approvals import check_place
from stores.budgets.services.budgets import change_budget
from stores.budgets.services.checks import check_balances
from stores.budgets.standings import PlannedOrders
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.stores import make_store
from tests.support.at_once import at_once

pytestmark = pytest.mark.django_db
CALLER = Caller(user_id=uuid4())


@pytest.fixture
def store(db):
    return enable_budgets(make_store())


def planned(store, *, orders=10, price=10):
    return PlannedOrders(
        pk=uuid4(),
        store=store,
        user_id=CALLER.user_id,
        application_id=None,
        is_test=False,
        orders=orders,
        total=Decimal(orders * price),
        total_quantity=orders * 100,
        created=timezone.now(),
    )


def order(store, price=10):
    return SimpleNamespace(
        pk=uuid4(),
        store=store,
        user_id=CALLER.user_id,
        application_id=None,
        is_test=False,
        reprint_of_id=None,
        total=Decimal(price),
        total_quantity=100,
        created=timezone.now(),
    )


def reserve(batch):
    reserve_budgets(planned=batch, caller=CALLER, note="Cards of May")
    return batch


def count(batch, placed):
    return count_order(order=placed, caller=CALLER, reservation_id=batch.pk)


def release(batch):
    release_reservation(reservation_id=batch.pk, caller=CALLER, note="Cards of May")


def used(budget):
    return [period.used for period in budget.periods.order_by("number")]


@pytest.mark.parametrize(
    ("kind", "whole", "each"), [("Amount", 100, 10), ("Orders", 10, 1), ("Quantity", 1000, 100)]
)
def test_reservation_takes_the_sum_and_turns_into_orders_row_by_row(store, kind, whole, each):
    budget = make_budget(store, Type=kind, Limit=whole)
    batch = reserve(planned(store))
    assert used(budget) == [whole]

    for _ in range(4):
        count(batch, order(store))
    assert used(budget) == [whole]
    assert BudgetReservation.objects.get().remaining == 6 * each

    release(batch)
    release(batch)
    assert used(budget) == [4 * each]
    kinds = BudgetEntry.objects.order_by("id").values_list("kind", "amount")
    parts = [("Reservation", each), ("Order", -each)] * 4
    assert list(kinds) == [("Reservation", -whole), *parts, ("Release", 6 * each)]
    assert not BudgetReservation.objects.exists()
    assert check_balances() == 0


def test_reservation_above_what_is_left_takes_nothing_from_any_budget(store):
    make_budget(store, Limit=1000)
    make_budget(store, Limit=99)
    with pytest.raises(Conflict) as refused:
        reserve(planned(store))
    assert refused.value.members["Budgets"][0]["Requested"] == 100
    assert not BudgetEntry.objects.exists()


def test_order_above_the_rest_of_its_reservation_is_counted_as_any_other(store):
    budget = make_budget(store, Limit=20)
    batch = reserve(planned(store, orders=2))
    count(batch, order(store))

    with pytest.raises(Conflict):
        count(batch, order(store, price=11))

    assert used(budget) == [20]
    count(batch, order(store))
    assert used(budget) == [20]


def test_cancelled_order_of_a_reservation_gives_back_once(store):
    budget = make_budget(store, Limit=20)
    batch, placed = reserve(planned(store, orders=2)), order(store)
    count(batch, placed)

    release_order(order=placed, user_id=None, application_id=None)
    release(batch)

    assert used(budget) == [0]


def test_orders_written_in_the_next_period_count_in_that_of_the_reservation(store):
    budget = make_budget(store, Limit=20)
    batch = reserve(planned(store, orders=2))
    with time_machine.travel(timezone.now() + timedelta(days=40)):
        count(batch, order(store))
        count_order(order=order(store), caller=CALLER)
        release(batch)
    assert used(budget) == [10, 10]


def test_budget_made_after_the_reservation_counts_the_orders_alone(store):
    batch = reserve(planned(store, orders=2))
    budget = make_budget(store, Limit=15)
    count(batch, order(store))
    with pytest.raises(Conflict):
        count(batch, order(store))
    assert used(budget) == [10]


def test_reservation_and_orders_keep_the_places_in_which_they_came(store):
    budget = make_budget(store, Limit=60, OverBudget="Approve")
    early = reserve(planned(store, orders=2))
    own = order(store, price=20)
    count_order(order=own, caller=CALLER)
    late = reserve(planned(store, orders=2))
    for batch in (early, late):
        count(batch, order(store))
    change_budget(budget=budget, values={"Limit": Decimal(40)})

    check_place(order=early, known_limits={})
    check_place(order=own, known_limits={})
    with pytest.raises(Conflict):
        check_place(order=late, known_limits={})
    change_budget(budget=budget, values={"Limit": Decimal(39)})
    check_place(order=early, known_limits={})
    with pytest.raises(Conflict):
        check_place(order=own, known_limits={})


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_rows_of_a_reservation_and_other_orders_at_once_stay_within_the_limit():
    store = enable_budgets(make_store())
    budget = make_budget(store, Type="Orders", Limit=16)
    batch = reserve(planned(store, orders=12))

    def place(reservation_id):
        def work():
            with transaction.atomic():
                try:
                    count_order(order=order(store), caller=CALLER, reservation_id=reservation_id)
                except Conflict:
                    return False
                return True

        return work

    rows = [place(batch.pk) for _ in range(12)]
    others = [place(None) for _ in range(8)]
    done = at_once(*rows, *others)

    assert (sum(done[:12]), sum(done[12:])) == (12, 4)
    assert used(budget) == [16]
    assert BudgetReservation.objects.get().remaining == 0
