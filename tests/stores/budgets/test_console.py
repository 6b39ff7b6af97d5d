"""The console's pages of budgets and cost centers."""

from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.utils import timezone
from django.utils.formats import date_format

from stores.budgets.models import BudgetPeriod, CostCenter, CostCenterMember
from stores.budgets.services.ledger import check_balances
from stores.budgets.services.people import read_people
from stores.catalog.models import Store
from stores.orders.models import Order
from tests.factories.budgets import enable_budgets, make_budget, make_cost_center
from tests.support.browser.submissions import form_of
from tests.support.scenario import sign_in

pytestmark = pytest.mark.django_db
LIST = "/admin/stores/budget/"


def test_staff_see_how_a_budget_stands_and_its_statement(shop, client):
    budget = make_budget(shop.store, Limit=50)
    shop.place()
    sign_in(client, shop.world.user)

    listed = client.get(LIST).content.decode()
    page = client.get(f"{LIST}{budget.pk}/change/").content.decode()

    assert "<b>38.00 USD left</b> of 50.00 USD" in listed
    assert "<b>38.00 USD left</b> of 50.00 USD" in page
    assert '<rect width="24.00" height="6" class="used"/>' in page
    assert "Add entry" not in page
    assert "Mail Studio" in page
    assert "-12.00" in page


def test_pages_name_the_first_and_the_last_day_of_a_period(shop, client):
    Store.objects.filter(pk=shop.store.pk).update(time_zone="Pacific/Auckland")
    shop.store.refresh_from_db()
    first = shop.store.local_date(timezone.now())
    first_words, last_words = date_format(first), date_format(first + timedelta(days=6))
    following = date_format(first + timedelta(days=7))
    budget = make_budget(shop.store, Limit=50, Duration="Weekly")
    shop.place()
    sign_in(client, shop.world.user)

    pages = [
        client.get(f"{LIST}{path}").content.decode()
        for path in ("", f"{budget.pk}/change/", f"{budget.pk}/statement/")
    ]

    assert [last_words in page for page in pages] == [True] * 3
    assert [following in page for page in pages] == [False] * 3
    assert f"lasts from {first_words} to {last_words}" in pages[1]
    assert f">from {first_words}</option>" in pages[2]
    assert f"<td>{first_words}</td>" in pages[2]


def test_last_day_is_not_after_that_of_the_budget(shop, client):
    first = shop.store.local_date(timezone.now())
    budget = make_budget(shop.store, Limit=50, EndDate=first + timedelta(days=2))
    sign_in(client, shop.world.user)

    page = client.get(f"{LIST}{budget.pk}/change/").content.decode()

    assert f"to {date_format(first + timedelta(days=2))}." in page


def test_statement_is_filtered_by_number_and_id_of_an_order(shop, client):
    budget = make_budget(shop.store, Limit=50)
    order = Order.objects.get(pk=shop.place().json()["OrderID"])
    shop.place()
    sign_in(client, shop.world.user)

    def lines(text):
        page = client.get(f"{LIST}{budget.pk}/statement/", {"order": text})
        return [line["order_number"] for line in page.context["lines"]]

    assert len(lines("")) == 2
    assert lines(str(order.number)) == lines(str(order.pk)) == [order.number]
    assert lines("x") == lines("-1") == lines("9" * 40) == lines(str(2**63)) == []


def test_form_from_before_the_first_entry_changes_nothing_that_is_fixed_now(shop, client):
    budget = make_budget(shop.store, Limit=50)
    sign_in(client, shop.world.operator)
    address = f"{LIST}{budget.pk}/change/"
    form = form_of(client.get(address), "budget_form")
    shop.place()

    refused = client.post(
        address, form.submission({"scope_kind": "CostCenter", "scope_name": "", "limit": "60"})
    )
    renamed = client.post(address, form.submission({"name": "Cards", "scope_name": ""}))

    assert refused.status_code == 200
    assert "cannot change" in refused.content.decode()
    assert renamed.status_code == 302
    budget.refresh_from_db()
    assert (budget.scope_kind, budget.limit, budget.name) == ("Store", 50, "Cards")


def test_staff_of_another_store_see_none(shop, client):
    budget = make_budget(enable_budgets(shop.world.unassociated))
    sign_in(client, shop.world.user)
    assert client.get(f"{LIST}{budget.pk}/change/").status_code == 404


def test_operator_keeps_a_cost_center_with_its_people(shop, client):
    world = shop.world
    sign_in(client, world.operator)
    form = {
        "store": shop.store.pk,
        "code": "4100",
        "name": "Marketing",
        "members-TOTAL_FORMS": "1",
        "members-INITIAL_FORMS": "0",
        "members-0-user": str(world.user.pk),
    }

    assert client.post("/admin/stores/costcenter/add/", form).status_code == 302

    assert CostCenter.objects.get().store == shop.store
    member = CostCenterMember.objects.get()
    assert (member.user, member.store) == (world.user, shop.store)


def test_nightly_check_raises_an_alarm_and_repairs_nothing(shop, client, caplog):
    budget = make_budget(shop.store, Limit=50)
    shop.place()
    assert check_balances() == 0
    BudgetPeriod.objects.filter(budget=budget).update(used=5)

    assert check_balances() == 1

    assert "The balance of a budget differs from its entries" in caplog.text
    assert budget.periods.get().used == 5
    sign_in(client, shop.world.operator)
    assert "budget differs from its entries" in client.get("/admin/").content.decode()
    assert budget.name in client.get(f"{LIST}?differs=yes").content.decode()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE stores_budgetperiod SET used = 12")
    assert check_balances() == 0
    assert not BudgetPeriod.objects.filter(differs=True).exists()


def test_person_in_two_cost_centers_of_a_store_is_refused(shop, client):
    world = shop.world
    make_cost_center(shop.store, world.user)
    other = make_cost_center(shop.store, code="4200")
    sign_in(client, world.operator)
    form = {
        "name": "Marketing",
        "members-TOTAL_FORMS": "1",
        "members-INITIAL_FORMS": "0",
        "members-0-user": str(world.user.pk),
    }

    response = client.post(f"/admin/stores/costcenter/{other.pk}/change/", form)

    assert "belongs to 4100 Cost center 4100 already" in response.content.decode()
    assert CostCenterMember.objects.count() == 1


@pytest.mark.parametrize(
    ("rows", "german"),
    [
        ("Code,Names,Person\n", "Die erste Zeile muss die Spalten Code, Name, Person nennen"),
        ('Code,Name,Person\n"4100', "Die Zeile, die bei 2 beginnt, ist kein gültiges CSV"),
        ("Code,Name,Person\n,Cards,\n", "Zeile 2: Sie nennt weder eine Kostenstelle noch eine Person."),
        ("Code,Name,Person\n,Cards,ida\n", "Zeile 2: Sie hat einen Namen, aber keinen Code."),
        ("Code,Name,Person\n4 100,Cards,\n", "4 100: Verwenden Sie nur 1 bis 64 Buchstaben, Ziffern"),
        ("Code,Name,Person\n4100,,\n", "4100 ist eine neue Kostenstelle und braucht einen Namen."),
        ("Code,Name,Person\n4100,A,\n4100,B,\n", "4100 hat in einer früheren Zeile den Namen A."),
    ],
)
def test_mistakes_of_a_file_of_people_are_in_the_language_of_the_page(shop, client, rows, german):
    sign_in(client, shop.world.operator)
    sent = {"store": shop.store.external_id, "text": rows}

    page = client.post("/admin/stores/costcenter/import/", sent, headers={"Accept-Language": "de"})

    assert german in unescape(page.content.decode())


def test_separator_of_lines_that_end_with_carriage_returns_is_found():
    (row,) = read_people("Code;Name;Person\r4200;Sales, east, west, and north;ida\r")

    assert (row.code, row.name, row.person) == ("4200", "Sales, east, west, and north", "ida")
