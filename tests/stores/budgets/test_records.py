"""The ledger only grows, and outlives what it is about."""

from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from accounts.models import Role
from fulfillment.core.errors import Invalid
from fulfillment.operations.privacy import erase_user
from stores.budgets.models import Budget, BudgetEntry, CostCenterMember
from stores.catalog.records.field_specs import store_record
from stores.catalog.services.stores import save_store
from tests.factories.accounts import UserFactory
from tests.factories.budgets import make_budget, make_cost_center

pytestmark = pytest.mark.django_db
PATH = "/store/associated/budget"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE stores_budgetentry SET amount = -1",
        "UPDATE stores_budgetentry SET note = 'x'",
        "DELETE FROM stores_budgetentry",
    ],
)
def test_entry_is_never_changed_or_deleted(shop, statement):
    make_budget(shop.store)
    shop.place()

    with pytest.raises(DatabaseError, match="append_only"), transaction.atomic():
        connection.cursor().execute(statement)


def test_order_is_counted_once_by_a_budget(shop):
    budget = make_budget(shop.store)
    shop.place()
    entry = BudgetEntry.objects.get()
    entry.pk = None

    with pytest.raises(DatabaseError, match="budget_entry_cause_unique"), transaction.atomic():
        entry.save(force_insert=True)
    assert budget.entries.count() == 1


def test_store_keeps_its_currency_while_a_budget_counts_amounts(shop):
    values = {**store_record(shop.store), "Currency": "EUR"}
    make_budget(shop.store, Type="Orders")
    counted = make_budget(shop.store)

    with pytest.raises(Invalid, match="Currency: it stays USD while these budgets count amounts: Marketing"):
        save_store(values=values)
    counted.delete()
    assert save_store(values=values).store.currency == "EUR"


def test_erased_person_leaves_budget_and_entries_without_a_name(shop):
    world = shop.world
    person = world.outsider
    make_cost_center(shop.store, person)
    for grant in ("Order.Self.Write", "Budget.All.Write"):
        Role.objects.create(user=person, store=shop.store, grant=grant)
    budget = make_budget(shop.store, Scope={"Kind": "User", "ID": str(person.pk)})
    client = world.as_user(person)
    assert shop.place(client).status_code == 201
    note = {"Amount": 5, "Note": "For Outsider Example"}
    assert client.call("POST", f"{PATH}/{budget.pk}/adjustment", note).status_code == 201

    world.other_application.user = world.operator
    world.other_application.save()
    Role.objects.filter(application=world.other_application).update(user=world.operator)
    erase_user(user=person)

    staff = world.as_user(world.user)
    shown = staff.call("GET", f"{PATH}/{budget.pk}").json()
    entries = staff.call("GET", f"{PATH}/{budget.pk}/entry").json()
    assert shown["Scope"] == {"Kind": "User", "ID": str(person.pk), "Name": None}
    assert [(entry["Kind"], entry["Amount"], entry["Note"]) for entry in entries] == [
        ("Order", -12.0, ""),
        ("Adjustment", 5.0, "[erased]"),
    ]
    assert {entry["Actor"]["Name"] for entry in entries} == {None}
    assert not CostCenterMember.objects.exists()


def test_erasing_who_is_called_like_a_word_of_notes_keeps_those_of_other_stores(shop):
    world = shop.world
    Role.objects.create(user=world.user, store=shop.store, grant="Budget.All.Write")
    budget = make_budget(shop.store)
    note = {"Amount": 5, "Note": "Correction for March"}
    assert world.as_user(world.user).call("POST", f"{PATH}/{budget.pk}/adjustment", note).status_code == 201

    erase_user(user=UserFactory(username="correction"))

    assert budget.entries.get(kind="Adjustment").note == "Correction for March"


def test_budget_of_a_removed_application_or_cost_center_stays_without_a_name(shop):
    world = shop.world
    center = make_cost_center(shop.store, world.user)
    of_application = {"Kind": "Application", "ID": str(world.application.pk)}
    budgets = [
        make_budget(shop.store, Scope=scope, Type="Orders")
        for scope in (of_application, {"Kind": "CostCenter", "ID": "4100"})
    ]
    shop.place()
    shop.place(world.as_user(world.user))
    center.delete()
    # As after an application is gone: no row has its key.
    Budget.objects.filter(pk=budgets[0].pk).update(scope_key=uuid4())

    shown = {
        budget["Scope"]["Kind"]: budget["Scope"]["Name"]
        for budget in world.as_user(world.user).call("GET", PATH).json()
    }
    assert shown == {"Application": None, "CostCenter": None}
    assert [budget.entries.count() for budget in budgets] == [1, 1]
