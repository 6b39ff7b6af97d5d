"""Orders at once against one budget, and processes that are killed while they order."""

import pytest

from accounts.callers import Caller
from stores.budgets.models import BudgetEntry, BudgetPeriod
from stores.budgets.services.budgets import adjust_budget, change_budget
from stores.orders.models import Order, OrderStatus
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import make_product, order_body
from tests.support.at_once import at_once
from tests.support.deaths import dies_at
from tests.support.scenario import build_world

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]
MANY = 24
PATH = "/store/associated/order"


@pytest.fixture
def world():
    built = build_world()
    make_product(built.associated)
    enable_budgets(built.associated)
    return built


def placing(world):
    client = world.as_application()
    return lambda: client.call("POST", PATH, order_body())


@pytest.mark.parametrize("limit", [1, 10])
def test_as_many_orders_are_accepted_at_once_as_the_limit_says(world, limit):
    budgets = [
        make_budget(world.associated, Type="Orders", Limit=limit),
        make_budget(world.associated, Type="Quantity", Limit=100 * MANY),
        make_budget(world.associated, Limit=12 * limit),
    ]

    statuses = [answer.status_code for answer in at_once(*[placing(world) for _ in range(MANY)])]

    assert sorted(statuses) == [201] * limit + [409] * (MANY - limit)
    assert Order.objects.count() == limit
    assert [one.periods.get().used for one in budgets] == [limit, 100 * limit, 12 * limit]
    assert BudgetEntry.objects.count() == 3 * limit


def test_adjustments_and_changes_beside_orders_lose_nothing(world):
    budget = make_budget(world.associated, Type="Orders", Limit=0, OverBudget="Warn")
    people = [
        lambda: adjust_budget(budget=budget, amount=1, note="x", caller=Caller.on_pages(world.user))
    ] * 6
    changes = [lambda: change_budget(budget=budget, values={"Limit": 1})] * 3
    orders = [placing(world) for _ in range(6)]

    at_once(*people, *changes, *orders)

    period = BudgetPeriod.objects.get()
    assert (period.added, period.used) == (6, 6)
    assert BudgetEntry.objects.count() == 12


def test_process_killed_at_any_statement_leaves_orders_and_entries_agreeing(world):
    make_budget(world.associated, Type="Orders", Limit=1000)
    make_budget(world.associated, Limit=100_000)
    place = placing(world)
    assert place().status_code == 201
    deaths, number = 0, 0
    while dies_at(place, number):
        number += 1
        deaths += 1
        _assert_agreement()

    _assert_agreement()
    assert deaths > 10
    assert Order.objects.count() == 2


def test_process_killed_at_any_statement_of_a_cancellation_gives_back_all_or_nothing(world):
    make_budget(world.associated, Type="Orders", Limit=1000)
    order = placing(world)().json()
    client, number = world.as_application(), 0
    while dies_at(
        lambda: client.call("POST", f"{PATH}/{order['OrderID']}/cancel"),
        number,
    ):
        number += 1
        is_cancelled = Order.objects.get().status == OrderStatus.CANCELLED
        assert BudgetPeriod.objects.get().used == (not is_cancelled)
        assert BudgetEntry.objects.count() == 1 + is_cancelled

    assert number > 10
    assert (BudgetPeriod.objects.get().used, BudgetEntry.objects.count()) == (0, 2)


def _assert_agreement():
    orders = set(Order.objects.values_list("pk", flat=True))
    entries = BudgetEntry.objects.values_list("order_id", flat=True)
    assert sorted(entries) == sorted([*orders, *orders])
    assert [period.used for period in BudgetPeriod.objects.order_by("budget__type")] == [
        12 * len(orders),
        len(orders),
    ]
