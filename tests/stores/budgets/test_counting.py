"""Orders are counted by the budgets that bind them, and give back what they took."""

from datetime import date
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Role
from applications.webhooks.models import Event
from stores.budgets.models import BudgetEntry, BudgetPeriod
from stores.orders.models import Order
from tests.factories.budgets import enable_budgets, make_budget, make_cost_center
from tests.factories.orders import make_product, order_body
from tests.support.api.modes import add_test_application

pytestmark = pytest.mark.django_db
# Of the product: 100 pieces at 0.12.
PRICE = Decimal("12.00")


def used(budget):
    return [period.used for period in budget.periods.order_by("number")]


@pytest.mark.parametrize(("kind", "taken"), [("Amount", PRICE), ("Orders", 1), ("Quantity", 100)])
def test_order_takes_what_the_budget_counts(shop, kind, taken):
    budget = make_budget(shop.store, Type=kind, Limit=1000)

    placed = shop.place().json()

    entry = BudgetEntry.objects.get()
    assert (entry.kind, entry.amount, str(entry.order_id)) == ("Order", -taken, placed["OrderID"])
    assert (entry.budget, entry.actor_application) == (budget, shop.world.application.pk)
    assert used(budget) == [taken]


def test_budget_that_is_just_used_up_allows_the_order_and_refuses_the_next(shop):
    budget = make_budget(shop.store, Limit=PRICE)

    first, second = shop.place(), shop.place()

    assert (first.status_code, second.status_code) == (201, 409)
    problem = second.json()
    assert problem["Code"] == "budget_exceeded"
    [record] = problem["Budgets"]
    assert record["PeriodEnd"] == f"{budget.periods.get().ends:%Y-%m-%dT%H:%M:%SZ}"
    assert {name: record[name] for name in ("BudgetID", "Limit", "Used", "Remaining", "Requested")} == {
        "BudgetID": str(budget.pk),
        "Limit": 12.0,
        "Used": 12.0,
        "Remaining": 0.0,
        "Requested": 12.0,
    }
    assert (Order.objects.count(), BudgetEntry.objects.count()) == (1, 1)


def test_orders_of_the_period_from_before_the_budget_do_not_count(shop):
    shop.place()
    budget = make_budget(shop.store, Limit=PRICE, StartDate=timezone.now().date().replace(day=1))

    assert shop.place().status_code == 201
    assert used(budget) == [PRICE]


def test_limit_of_zero_allows_nothing(shop):
    make_budget(shop.store, Limit=0)
    assert shop.place().json()["Code"] == "budget_exceeded"


def test_all_budgets_count_an_order_or_none(shop):
    open_one = make_budget(shop.store, Type="Orders", Limit=10)
    make_budget(shop.store, Type="Quantity", Limit=99)

    assert shop.place().json()["Code"] == "budget_exceeded"
    assert not open_one.entries.exists()


def test_refusal_names_every_budget_that_refuses(shop):
    make_budget(shop.store, Name="A", Limit=1)
    make_budget(shop.store, Name="B", Limit=1)
    make_budget(shop.store, Name="C", Limit=1, OverBudget="Warn")

    problem = shop.place().json()
    assert sorted(budget["Name"] for budget in problem["Budgets"]) == ["A", "B"]


def test_budget_that_warns_accepts_with_a_message(shop):
    budget = make_budget(shop.store, Limit=20, OverBudget="Warn")

    first, second = shop.place().json(), shop.place()

    assert first["_meta"]["Messages"] == []
    assert second.status_code == 201
    assert second.json()["_meta"]["Messages"] == [
        "The budget Marketing is exceeded: 24.00 USD of 20.00 USD are used."
    ]
    assert used(budget) == [24]


def test_budget_of_a_person_an_application_and_a_cost_center_bind_only_theirs(shop):
    world = shop.world
    make_cost_center(shop.store, world.user)
    scopes = {
        "User": str(world.user.pk),
        "Application": str(world.application.pk),
        "CostCenter": "4100",
        "Store": "associated",
    }
    budgets = {
        kind: make_budget(shop.store, Scope={"Kind": kind, "ID": key}, Type="Orders", Limit=10)
        for kind, key in scopes.items()
    }

    shop.place()
    shop.place(world.as_user(world.user))

    counted = {kind: sum(used(budget)) for kind, budget in budgets.items()}
    assert counted == {"User": 1, "CostCenter": 1, "Application": 1, "Store": 2}


def test_person_through_an_application_is_bound_by_budgets_of_both(shop):
    world = shop.world
    own = make_budget(shop.store, Scope={"Kind": "User", "ID": str(world.user.pk)})
    of_application = make_budget(shop.store, Scope={"Kind": "Application", "ID": str(world.application.pk)})

    assert shop.place(world.as_user(world.user, application=world.application)).status_code == 201
    assert used(own) == used(of_application) == [PRICE]


@pytest.mark.parametrize(
    "values",
    [
        {"IsEnabled": False},
        {"StartDate": "2100-01-01"},
        {"StartDate": "2020-01-01", "EndDate": "2020-12-31"},
    ],
)
def test_budget_that_is_not_in_force_binds_nothing(shop, values):
    dates = {name: date.fromisoformat(one) if name.endswith("Date") else one for name, one in values.items()}
    make_budget(shop.store, Limit=0, **dates)
    assert shop.place().status_code == 201


def test_budget_binds_on_its_last_day(shop):
    today = shop.store.local_date(timezone.now())
    make_budget(shop.store, Limit=0, StartDate=today, EndDate=today)

    assert shop.place().json()["Code"] == "budget_exceeded"


def test_nothing_binds_in_a_store_that_switched_budgets_off(shop):
    make_budget(shop.store, Limit=0)
    shop.store.budget_enabled = False
    shop.store.save()
    assert shop.place().status_code == 201


def test_store_with_budgets_and_none_made_goes_on_as_before(shop):
    assert shop.place().status_code == 201
    assert not BudgetPeriod.objects.exists()


def test_test_orders_and_the_demo_store_never_count(shop):
    world = shop.world
    budget = make_budget(shop.store, Limit=0)
    enable_budgets(world.demo)
    make_product(world.demo)
    of_demo = make_budget(world.demo, Limit=0)
    tester = world.as_application(add_test_application(world))

    assert shop.place(tester).status_code == 201
    assert shop.place(world.as_user(world.user), store="demo").status_code == 201
    assert not budget.entries.exists()
    assert not of_demo.entries.exists()


def test_reprint_counts_like_any_order(shop):
    budget = make_budget(shop.store, Type="Orders", Limit=2)
    order = shop.place().json()

    reprint = {**order_body(), "ReprintOfOrderID": order["OrderID"]}
    answers = [shop.place(body=reprint) for _ in range(2)]

    assert [response.status_code for response in answers] == [201, 409]
    assert answers[1].json()["Code"] == "budget_exceeded"
    assert used(budget) == [2]


def test_repeated_request_counts_once(shop):
    budget = make_budget(shop.store)
    answers = [shop.place(HTTP_IDEMPOTENCY_KEY="k-1") for _ in range(2)]

    assert answers[0].content == answers[1].content
    assert used(budget) == [PRICE]


def test_cancelled_order_gives_back_to_the_period_that_counted_it(shop):
    budget = make_budget(shop.store)
    order = shop.place().json()

    assert shop.act(order, "cancel").status_code == 200
    assert shop.act(order, "cancel").status_code == 200

    assert used(budget) == [0]
    assert list(budget.entries.values_list("kind", "amount")) == [("Order", -PRICE), ("Release", PRICE)]
    assert budget.entries.last().actor_user == shop.world.user.pk


def test_rejected_order_gives_back(shop):
    budget = make_budget(shop.store)
    order = shop.place().json()

    assert shop.act(order, "status", {"Status": 95}).status_code == 200
    assert used(budget) == [0]


def test_shipments_change_nothing(shop):
    budget = make_budget(shop.store)
    order = shop.place().json()

    for status in (30, 40, 50, 60, 70, 80):
        assert shop.act(order, "status", {"Status": status}).status_code == 200
    assert used(budget) == [PRICE]


def test_staff_and_applications_hear_of_a_budget_once_for_each_level_and_period(shop):
    world = shop.world
    reader = add_test_application(world)
    Role.objects.create(application=reader, store=shop.store, grant="Budget.All.Write")
    Role.objects.create(user=world.user, store=shop.store, grant="Budget.All.Write")
    Role.objects.create(user=world.outsider, grant="Store.All.Read")
    budget = make_budget(shop.store, Limit=50, WarnAt=24)

    for _ in range(4):
        shop.place()
    assert shop.place().status_code == 409

    events = Event.objects.filter(application=world.application, type__startswith="budget.").order_by("pk")
    assert [event.type for event in events] == ["budget.warned"]
    assert events[0].data["Used"] == 12.0
    order = Order.objects.first()
    shop.act({"OrderID": str(order.pk)}, "cancel")
    budget.limit = 48
    budget.save()
    shop.place()
    assert [event.type for event in events.all()] == ["budget.warned", "budget.exceeded"]
    assert not Event.objects.filter(application=reader).exists()
    for person in (world.user, world.outsider):
        assert [
            notification.key
            for notification in person.notifications.filter(kind="budget_used").order_by("pk")
        ] == [
            f"budget:{budget.pk}:0:1",
            f"budget:{budget.pk}:0:2",
        ]


def test_order_costs_one_statement_more_with_any_number_of_budgets(shop):
    def statements():
        with CaptureQueriesContext(connection) as queries:
            assert shop.place(body=order_body()).status_code == 201
        return len(queries)

    shop.place()
    unlimited = statements()
    make_budget(shop.store, Limit=100_000, Type="Quantity")
    statements()
    one = statements()
    for name in ("B", "C"):
        make_budget(shop.store, Limit=100_000, Name=name)
    statements()
    three = statements()
    shop.store.budget_enabled = False
    shop.store.save()
    statements()
    none = statements()
    assert (unlimited, one, three) == (none + 1, none + 1, none + 1)


def test_quote_shows_the_budgets_of_the_caller_and_what_they_say_to_each_option(shop):
    world = shop.world
    make_budget(shop.store, Limit=15, OverBudget="Warn")
    make_budget(shop.store, Scope={"Kind": "User", "ID": str(world.user.pk)}, Limit=0)
    question = {
        "Items": [{"ProductID": "card", "Quantity": 100}],
        "ShipTo": {"CountryCode": "US", "LocationType": "Commercial"},
        "ProductionDays": 3,
    }

    quote = world.as_application().call("POST", "/store/associated/quote", question).json()

    [budget] = quote["Budgets"]
    assert (budget["Name"], budget["Remaining"], budget["OverBudget"]) == ("Marketing", 15.0, "Warn")
    decisions = {option["DeliveryMethodCode"]: option["BudgetDecision"] for option in quote["Options"]}
    assert decisions == {"GROUND": "Allowed", "OVERNIGHT": "Warned"}
    own = world.as_user(world.user).call("POST", "/store/associated/quote", question).json()
    assert {option["BudgetDecision"] for option in own["Options"]} == {"Refused"}
    assert not BudgetPeriod.objects.exists()


def test_quote_at_the_demo_store_knows_no_budgets(shop):
    enable_budgets(shop.world.demo)
    make_product(shop.world.demo)
    make_budget(shop.world.demo, Limit=0)
    question = {"Items": [{"ProductID": "card", "Quantity": 100}], "ShipTo": {"CountryCode": "US"}}

    quote = shop.world.as_application().call("POST", "/store/demo/quote", question).json()
    assert (quote["Budgets"], quote["Options"][0]["BudgetDecision"]) == ([], "Allowed")
