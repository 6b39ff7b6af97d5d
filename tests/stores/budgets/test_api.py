"""The operations of budgets."""

import functools
import operator
from datetime import date

import pytest

from accounts.models import Role
from stores.budgets.models import Budget
from stores.budgets.selectors import budgets as selectors
from stores.budgets.services import budgets
from tests.factories.budgets import budget_values, enable_budgets, make_budget, make_cost_center
from tests.support.api.modes import add_test_application

pytestmark = pytest.mark.django_db
PATH = "/store/associated/budget"


@pytest.fixture
def shop(shop, world):
    Role.objects.create(user=world.user, store=world.associated, grant="Budget.All.Write")
    return shop


@pytest.fixture
def manager(shop):
    return shop.world.as_user(shop.world.user)


def test_budget_is_made_with_its_defaults(shop, manager):
    response = manager.call("POST", PATH, budget_values(Limit=99.5))

    created = response.json()
    assert response.status_code == 201
    assert response["Location"] == f"/api/v1{PATH}/{created['BudgetID']}"
    assert {
        name: created[name] for name in ("OverBudget", "WarnAt", "CarryOver", "EndDate", "IsEnabled")
    } == {
        "OverBudget": "Refuse",
        "WarnAt": 80,
        "CarryOver": False,
        "EndDate": None,
        "IsEnabled": True,
    }
    assert created["Scope"] == {"Kind": "Store", "ID": "associated", "Name": "Associated Print"}
    assert (created["Limit"], created["Currency"]) == (99.5, "USD")
    assert {name: created["Period"][name] for name in ("Limit", "Used", "Remaining")} == {
        "Limit": 99.5,
        "Used": 0.0,
        "Remaining": 99.5,
    }
    assert manager.call("GET", f"{PATH}/{created['BudgetID']}").json() == created
    assert manager.call("GET", PATH).json() == [created]


def test_budget_made_twice_with_one_key_is_one(shop, manager):
    answers = [manager.call("POST", PATH, budget_values(), HTTP_IDEMPOTENCY_KEY="b-1") for _ in range(2)]
    assert answers[0].content == answers[1].content
    assert Budget.objects.count() == 1


def test_store_has_a_limited_number_of_budgets(shop, manager, monkeypatch):
    monkeypatch.setattr(budgets, "MAX_BUDGETS", 1)
    make_budget(enable_budgets(shop.world.unassociated))

    answers = [manager.call("POST", PATH, budget_values()) for _ in range(2)]

    assert [response.status_code for response in answers] == [201, 409]
    assert answers[1].json()["Code"] == "too_many_budgets"
    assert "at most 1 budgets" in answers[1].json()["detail"]


def test_scope_has_a_limited_number_of_budgets_that_have_not_ended(shop, manager, monkeypatch):
    """Each quote lists all that bind it: with 4,900 it took a fifth of a second and stored 1.6 MB."""
    monkeypatch.setattr(budgets, "MAX_OF_SCOPE", 1)
    enable_budgets(shop.world.associated)
    mine = {"Scope": {"Kind": "User", "ID": str(shop.world.user.pk)}}
    ended = {"StartDate": "2024-01-01", "EndDate": "2024-12-31"}

    first = manager.call("POST", PATH, budget_values(**ended)).json()
    assert manager.call("POST", PATH, budget_values()).status_code == 201
    other = manager.call("POST", PATH, budget_values(**mine)).json()

    refused = [
        manager.call("POST", PATH, budget_values()),
        manager.call("PATCH", f"{PATH}/{first['BudgetID']}", {"EndDate": "2199-12-31"}),
        manager.call("PATCH", f"{PATH}/{other['BudgetID']}", {"Scope": {"Kind": "Store"}}),
    ]
    assert [(response.status_code, response.json()["Code"]) for response in refused] == [
        (409, "too_many_budgets")
    ] * 3
    assert manager.call("PATCH", f"{PATH}/{other['BudgetID']}", {"Limit": 7}).status_code == 200


def test_list_costs_the_same_statements_for_any_number_of_budgets(
    shop, manager, django_assert_max_num_queries
):
    """A lookup of the store for each of 5,000 budgets took 3 s of processor time, and others waited for 40 s."""
    enable_budgets(shop.world.associated)
    for _ in range(20):
        make_budget(shop.world.associated)

    with django_assert_max_num_queries(15):
        assert len(manager.call("GET", PATH).json()) == 20


def test_long_list_has_a_slot_and_others_need_none(shop, manager, settings, monkeypatch):
    settings.CONCURRENCY_WAIT_SECONDS = settings.FILES_CONCURRENCY = 0
    made = make_budget(enable_budgets(shop.world.associated))

    assert manager.call("GET", PATH).status_code == 200
    monkeypatch.setattr(selectors, "LONG_LIST", 0)
    refused = manager.call("GET", PATH)

    assert (refused.status_code, refused.json()["Code"]) == (503, "service_busy")
    assert manager.call("GET", f"{PATH}/{made.pk}").status_code == 200


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"Limit": -1}, "/Limit", "too_small"),
        ({"Limit": 1.005}, "/Limit", "max_decimal_places"),
        ({"Limit": "5"}, "/Limit", "invalid"),
        ({"Limit": True}, "/Limit", "invalid"),
        ({"Limit": 1e30}, "/Limit", "max_digits"),
        ({"Type": "Orders", "Limit": 1.5}, "/Limit", "not_whole"),
        ({"Type": "Pounds"}, "/Type", "invalid_choice"),
        ({"StartDate": "2026-02-30"}, "/StartDate", "invalid"),
        ({"StartDate": "1999-01-01"}, "/StartDate", "date_out_of_range"),
        ({"StartDate": "2026-02-02", "EndDate": "2026-02-01"}, "/EndDate", "ends_before_start"),
        ({"WarnAt": 0}, "/WarnAt", "min_value"),
        ({"WarnAt": 101}, "/WarnAt", "max_value"),
        ({"Scope": {"Kind": "User"}}, "/Scope/ID", "required"),
        ({"Scope": {"Kind": "User", "ID": "nobody"}}, "/Scope/ID", "scope_unknown"),
        ({"Scope": {"Kind": "Application", "ID": "none"}}, "/Scope/ID", "scope_unknown"),
        ({"Scope": {"Kind": "CostCenter", "ID": "none"}}, "/Scope/ID", "scope_unknown"),
        ({"Scope": {"Kind": "Store", "ID": "unassociated"}}, "/Scope/ID", "scope_unknown"),
        ({"Name": " "}, "/Name", "blank"),
        ({"Total": 1}, "/Total", "unknown_field"),
    ],
)
def test_wrong_value_is_refused_where_it_is(shop, manager, changes, pointer, code):
    response = manager.call("POST", PATH, budget_values(**changes))
    assert response.status_code == 400
    assert [(error["Pointer"], error["Code"]) for error in response.json()["Errors"]] == [(pointer, code)]
    assert not Budget.objects.exists()


def test_several_broken_rules_are_named_at_once(shop, manager):
    values = budget_values(Limit=-1, Scope={"Kind": "User", "ID": "x"}, StartDate="1999-01-01")
    pointers = [error["Pointer"] for error in manager.call("POST", PATH, values).json()["Errors"]]
    assert sorted(pointers) == ["/Limit", "/Scope/ID", "/StartDate"]


def test_store_offers_only_its_measures_and_periods(shop, manager):
    shop.store.budget_types, shop.store.budget_durations = ["Orders"], ["Weekly"]
    shop.store.save()
    errors = manager.call("POST", PATH, budget_values()).json()["Errors"]
    assert [(error["Pointer"], error["Code"]) for error in errors] == [
        ("/Type", "not_offered"),
        ("/Duration", "not_offered"),
    ]


def test_store_without_budgets_makes_none(shop, manager):
    shop.store.budget_enabled = False
    shop.store.save()
    response = manager.call("POST", PATH, budget_values())
    assert (response.status_code, response.json()["Code"]) == (409, "budgets_disabled")


def test_change_keeps_what_is_not_sent(shop, manager):
    path = f"{PATH}/{make_budget(shop.store).pk}"
    before = manager.call("GET", path).json()

    changed = manager.call("PATCH", path, {"Limit": 120, "EndDate": "2199-12-31"}).json()

    assert changed["Updated"] > before["Updated"]
    same = {name for name in before if before[name] == changed[name]}
    assert set(before) - same == {"Limit", "EndDate", "Updated", "Period"}
    assert manager.call("PATCH", path, {"EndDate": None}).json()["EndDate"] is None


@pytest.mark.parametrize(
    "change",
    [
        {"Scope": {"Kind": "CostCenter", "ID": "4100"}},
        {"Type": "Orders", "Limit": 5},
        {"Duration": "Weekly"},
        {"StartDate": "2026-01-01"},
    ],
)
def test_what_entries_rest_on_stays(shop, manager, change):
    make_cost_center(shop.store)
    unused, counted = make_budget(shop.store), make_budget(shop.store)
    assert manager.call("PATCH", f"{PATH}/{unused.pk}", change).status_code == 200
    shop.place()

    response = manager.call("PATCH", f"{PATH}/{counted.pk}", change)

    assert (response.status_code, response.json()["Code"]) == (409, "budget_has_entries")
    same = {"Type": "Amount", "Scope": {"Kind": "Store", "ID": "associated"}, "Limit": 7}
    assert manager.call("PATCH", f"{PATH}/{counted.pk}", same).status_code == 200


def test_limit_below_what_is_used_changes_nothing_past(shop, manager):
    budget = make_budget(shop.store, Limit=20)
    shop.place()

    changed = manager.call("PATCH", f"{PATH}/{budget.pk}", {"Limit": 5}).json()

    assert (changed["Period"]["Used"], changed["Period"]["Remaining"]) == (12.0, -7.0)
    assert shop.place().json()["Code"] == "budget_exceeded"


def test_adjustment_adds_to_the_present_period(shop, manager):
    budget = make_budget(shop.store, Limit=10)
    path = f"{PATH}/{budget.pk}"

    response = manager.call("POST", f"{path}/adjustment", {"Amount": 2.5, "Note": "Trade fair"})

    entry = response.json()
    assert (response.status_code, entry["Kind"], entry["Amount"], entry["Note"]) == (
        201,
        "Adjustment",
        2.5,
        "Trade fair",
    )
    assert entry["Actor"] == {"Kind": "User", "ID": str(shop.world.user.pk), "Name": "User Example"}
    assert manager.call("GET", path).json()["Period"]["Limit"] == 12.5
    assert shop.place().status_code == 201


@pytest.mark.parametrize(
    ("amount", "code"), [(-10.01, "limit_below_zero"), (0, "too_small"), (1.005, "max_decimal_places")]
)
def test_adjustment_that_makes_no_sense_is_refused(shop, manager, amount, code):
    path = f"{PATH}/{make_budget(shop.store, Limit=10).pk}/adjustment"
    response = manager.call("POST", path, {"Amount": amount, "Note": "x"})
    assert (response.status_code, response.json()["Errors"][0]["Code"]) == (400, code)


def test_adjustments_never_add_up_to_more_than_a_period_can_hold(shop, manager):
    path = f"{PATH}/{make_budget(shop.store, Limit=10**11).pk}/adjustment"
    answers = [manager.call("POST", path, {"Amount": 9 * 10**11, "Note": "x"}) for _ in range(12)]

    assert [response.status_code for response in answers] == [201] * 11 + [400]
    [error] = answers[-1].json()["Errors"]
    assert (error["Pointer"], error["Code"]) == ("/Amount", "too_large")


def test_budget_that_has_ended_is_not_adjusted(shop, manager):
    budget = make_budget(shop.store, StartDate=date(2020, 1, 1), EndDate=date(2020, 6, 30))
    response = manager.call("POST", f"{PATH}/{budget.pk}/adjustment", {"Amount": 5, "Note": "x"})
    assert (response.status_code, response.json()["Code"]) == (409, "budget_not_in_force")


def test_budget_without_entries_is_removed(shop, manager):
    path = f"{PATH}/{make_budget(shop.store).pk}"
    manager.call("PATCH", path, {"Limit": 5})
    assert manager.call("DELETE", path).status_code == 204
    assert manager.call("GET", path).json()["Code"] == "budget_not_found"


def test_budget_with_entries_is_kept(shop, manager):
    path = f"{PATH}/{make_budget(shop.store).pk}"
    shop.place()
    response = manager.call("DELETE", path)
    assert (response.status_code, response.json()["Code"]) == (409, "budget_has_entries")


def test_caller_without_the_grant_sees_what_binds_it(shop):
    client = shop.world.as_application()
    of_store = make_budget(shop.store, Name="B")
    own = make_budget(
        shop.store, Name="A", Scope={"Kind": "Application", "ID": str(shop.world.application.pk)}
    )
    foreign = make_budget(shop.store, Scope={"Kind": "User", "ID": str(shop.world.user.pk)})

    budget_ids = [budget["BudgetID"] for budget in client.call("GET", PATH).json()]

    assert budget_ids == [str(own.pk), str(of_store.pk)]
    assert client.call("GET", f"{PATH}/{foreign.pk}").status_code == 404
    assert client.call("GET", f"{PATH}/{own.pk}/entry").status_code == 200
    assert client.call("GET", f"{PATH}/{of_store.pk}/entry").json()["Code"] == "grant_missing"
    assert client.call("POST", PATH, budget_values()).json()["Code"] == "grant_missing"


SELF = ("Store.Self.Read", "Order.Self.Read", "Order.Self.Write")


def entry_path(shop, application):
    scope = {"Kind": "Application", "ID": str(application.pk)}
    return f"{PATH}/{make_budget(shop.store, Scope=scope, Limit=1000).pk}/entry"


@pytest.mark.parametrize("name", ["application", "console"])
def test_users_of_a_shared_application_do_not_see_its_entries(shop, world, name):
    application = getattr(world, name)
    path = entry_path(shop, application)
    for grant in SELF:
        Role.objects.create(user=world.outsider, store=shop.store, grant=grant)
    assert shop.place(world.as_user(world.user, application=application)).status_code == 201

    for scopes in (SELF, (*SELF, "Account")):
        response = world.as_user(world.outsider, scopes, application).call("GET", path)
        assert (response.status_code, response.json()["Code"]) == (403, "grant_missing")


@pytest.mark.parametrize(("scopes", "name"), [(SELF, None), ((*SELF, "Account"), "User Example")])
def test_application_names_people_only_with_the_scope(shop, world, scopes, name):
    path = entry_path(shop, world.application)
    assert shop.place(world.as_user(world.user, application=world.application)).status_code == 201
    client = world.as_application(scopes=scopes)

    [entry] = client.call("GET", path).json()
    csv = b"".join(client.call("GET", f"{path}?format=csv").streaming_content).decode()

    assert entry["Actor"] == {"Kind": "User", "ID": str(world.user.pk), "Name": name}
    assert ("User Example" in csv) == (name is not None)


@pytest.mark.parametrize(("scopes", "name"), [((), None), (("Account",), "Outsider Example")])
def test_budget_of_a_person_names_them_to_an_application_only_with_the_scope(shop, world, scopes, name):
    Role.objects.create(application=world.application, store=shop.store, grant="Budget.All.Write")
    client = world.as_application(scopes=("Budget.All.Write", *scopes))
    scope = {"Kind": "User", "ID": str(world.outsider.pk)}

    created = client.call("POST", PATH, budget_values(Scope=scope)).json()
    path = f"{PATH}/{created['BudgetID']}"

    assert created["Scope"] == {**scope, "Name": name}
    assert client.call("GET", path).json()["Scope"] == created["Scope"]
    assert client.call("GET", PATH).json()[0]["Scope"] == created["Scope"]
    assert client.call("PATCH", path, {"Limit": 7}).json()["Scope"] == created["Scope"]


def test_entries_are_paged_by_key(shop, manager):
    budget = make_budget(shop.store, Limit=1000)
    for _ in range(5):
        shop.place()
    path, pages = f"{PATH}/{budget.pk}/entry?take=2", []
    while path:
        response = manager.call("GET", path)
        pages.append([item["EntryID"] for item in response.json()])
        link = response.get("Link", "")
        path = link[1 : link.index(">")].partition("/api/v1")[2] if link else ""

    assert [len(page) for page in pages] == [2, 2, 1]
    assert functools.reduce(operator.iadd, pages, []) == [
        str(pk) for pk in budget.entries.values_list("pk", flat=True)
    ]


def test_entries_as_csv_hold_no_formulas(shop, manager):
    budget = make_budget(shop.store, Limit=1000)
    manager.call("POST", f"{PATH}/{budget.pk}/adjustment", {"Amount": 5, "Note": "=1+1"})
    shop.place()

    response = manager.call("GET", f"{PATH}/{budget.pk}/entry?format=csv")

    lines = b"".join(response.streaming_content).decode().splitlines()
    assert lines[0] == "EntryID,Kind,Amount,PeriodStart,OrderID,ActorID,ActorName,Note,Created"
    assert ",Adjustment,5.0," in lines[1]
    assert ",User Example,'=1+1," in lines[1]
    assert ",Order,-12.0," in lines[2]
    assert ",Mail Studio,," in lines[2]
    assert manager.call("GET", f"{PATH}/{budget.pk}/entry?format=xml").status_code == 400


def test_unknown_cursor_is_refused(shop, manager):
    path = f"{PATH}/{make_budget(shop.store).pk}/entry?after=x"
    assert manager.call("GET", path).json()["Code"] == "parameter_invalid"


def test_budget_of_a_person_shows_the_name(shop, manager):
    budget = make_budget(shop.store, Scope={"Kind": "User", "ID": str(shop.world.outsider.pk)})
    path = f"{PATH}/{budget.pk}"
    assert manager.call("GET", path).json()["Scope"]["Name"] == "Outsider Example"


def test_test_application_sees_and_makes_no_budgets(shop):
    tester = add_test_application(shop.world)
    for grant in ("Store.All.Read", "Budget.All.Write"):
        Role.objects.create(application=tester, store=shop.store, grant=grant)
    client, path = shop.world.as_application(tester), f"{PATH}/{make_budget(shop.store).pk}"

    assert client.call("GET", PATH).json() == []
    assert {client.call("GET", address).status_code for address in (path, f"{path}/entry")} == {404}
    assert client.call("POST", PATH, budget_values()).json()["Code"] == "closed_to_test_applications"
