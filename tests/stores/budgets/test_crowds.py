"""Orders at once against one budget, and processes that are killed while they order."""

import pytest

from accounts.callers import Caller
from accounts.models import Notification
from stores.budgets.models import BudgetEntry, BudgetPeriod
from stores.budgets.services.budgets import adjust_budget, change_budget
from stores.catalog.models import Store
from stores.orders.models import Order, OrderHistory, OrderStatus
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import make_product, order_body
from tests.support.at_once import at_once
from tests.support.scenario import build_world
from tests.support.servers.deaths import dies_at

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

    statuses = [response.status_code for response in at_once(*[placing(world) for _ in range(MANY)])]

    assert sorted(statuses) == [201] * limit + [409] * (MANY - limit)
    assert Order.objects.count() == limit
    assert [budget.periods.get().used for budget in budgets] == [limit, 100 * limit, 12 * limit]
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


@pytest.mark.parametrize(
    ("action", "body", "state", "entries", "history"),
    [("approve", None, "Approved", 1, 3), ("deny", {"Reason": "No."}, "Denied", 2, 4)],
)
def test_process_killed_at_any_statement_of_a_decision_decides_all_or_nothing(
    world, action, body, state, entries, history
):
    Store.objects.filter(pk=world.associated.pk).update(approval_above=0)
    make_budget(world.associated, Type="Orders", Limit=1000)
    order, approver = placing(world)().json(), world.as_operator()
    number = 0
    while dies_at(lambda: approver.call("POST", f"{PATH}/{order['OrderID']}/{action}", body), number):
        number += 1
        placed = Order.objects.get()
        is_decided = placed.approval == state
        assert placed.approval in {"Pending", state}
        assert BudgetEntry.objects.count() == (entries if is_decided else 1)
        assert BudgetPeriod.objects.get().used == (2 - entries if is_decided else 1)
        assert Notification.objects.filter(kind="approval_decided").count() == is_decided
        assert OrderHistory.objects.count() == (history if is_decided else 2)

    assert number > 10
    assert Order.objects.get().approval == state


def test_process_killed_at_any_statement_of_an_adjustment_adds_all_or_nothing(world):
    budget = make_budget(world.associated, Type="Orders", Limit=1)
    manager, number = world.as_operator(), 0
    path, body = f"/store/associated/budget/{budget.pk}/adjustment", {"Amount": 5, "Note": "Fair in May"}
    while dies_at(lambda: manager.call("POST", path, body, HTTP_IDEMPOTENCY_KEY="k-1"), number):
        number += 1
        added = sum(BudgetPeriod.objects.values_list("added", flat=True))
        assert added == sum(BudgetEntry.objects.values_list("amount", flat=True))
        assert BudgetEntry.objects.count() <= 1

    assert number > 10
    assert (BudgetPeriod.objects.get().added, BudgetEntry.objects.count()) == (5, 1)


def _assert_agreement():
    orders = set(Order.objects.values_list("pk", flat=True))
    entries = BudgetEntry.objects.values_list("order_id", flat=True)
    assert sorted(entries) == sorted([*orders, *orders])
    assert [period.used for period in BudgetPeriod.objects.order_by("budget__type")] == [
        12 * len(orders),
        len(orders),
    ]
