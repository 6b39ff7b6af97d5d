"""Budgets and cost centers kept in the console, as a person does it."""

import re

import pytest
from playwright.sync_api import expect

from accounts.models import Role
from stores.budgets.models import Budget, BudgetEntry, CostCenterMember
from tests.factories.budgets import enable_budgets
from tests.factories.orders import make_product
from tests.support.browser.browser_sessions import in_database
from tests.support.browser.console_forms import SIZES, open_console
from tests.support.browser.visual_checks import shoot
from tests.support.orders.shop import Shop

pytestmark = pytest.mark.slow


@pytest.fixture
def site(site):
    world = site[1]
    make_product(world.associated)
    enable_budgets(world.associated)
    Role.objects.create(user=world.user, store=world.associated, grant="Budget.All.Write")
    return site


def place(world, count):
    for _ in range(count):
        assert Shop(world).place().status_code == 201


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_budget_is_made_topped_up_changed_and_ended(visitor):
    page = visitor.page
    open_console(visitor, "/admin/stores/budget/", "user")
    page.get_by_role("link", name="Add budget").first.click()
    page.locator("#id_name").fill("Marketing")
    page.locator("#id_scope_kind").select_option("User")
    page.locator("#id_scope_name").fill("nobody@print.example")
    page.locator("#id_type").select_option("Amount")
    page.locator("#id_limit").fill("30")
    page.locator("#id_duration").select_option("Monthly")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(
        page.get_by_text("No active user has the full name or e-mail address nobody@").first
    ).to_be_visible()
    page.locator("#id_scope_kind").select_option("Store")
    page.locator("#id_scope_name").fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("30.00 USD left")).to_be_visible()
    expect(
        page.get_by_text(re.compile(r"The period lasts from \w+ \d+, \d+ to \w+ \d+, \d+\."))
    ).to_be_visible()

    in_database(lambda: place(visitor.world, 2))
    page.get_by_label("Add to this period").fill("-4.5")
    page.get_by_label("Note").fill("Moved to Sales")
    page.get_by_role("button", name="Add entry").click()
    expect(page.get_by_text("Corrected by -4.50 USD.")).to_be_visible()
    expect(page.get_by_text("1.50 USD left of 25.50 USD")).to_be_visible()
    shoot(visitor.page, "budget")

    page.locator("#id_limit").fill("20")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("24.00 USD are already used, more than 15.50 USD.")).to_be_visible()
    shoot(visitor.page, "budget-question")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("8.50 USD over the limit of 15.50 USD")).to_be_visible()
    assert in_database(lambda: Budget.objects.get().limit) == 20

    page.get_by_role("link", name="Whole statement").click()
    # On a phone the rows are cards, without the head.
    entries = page.locator("main tbody tr")
    expect(entries).to_have_count(3)
    shoot(visitor.page, "statement")
    page.get_by_label("Kind").select_option("Adjustment")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(entries).to_have_count(1)
    expect(page.get_by_text("Moved to Sales")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as CSV").click()
    lines = download.value.path().read_text().splitlines()
    assert len(lines) == 2
    assert ",Adjustment,-4.5," in lines[1]

    visitor.go("/admin/stores/budget/?store=associated")
    expect(page.get_by_text("8.50 USD over the limit of 15.50 USD")).to_be_visible()
    shoot(visitor.page, "budgets")
    page.get_by_role("link", name="Marketing").first.click()
    page.get_by_role("button", name="End budget").click()
    expect(page.get_by_text("from tomorrow it limits no order")).to_be_visible()
    page.get_by_role("button", name="End it").click()
    expect(page.get_by_text("The budget Marketing ends today.")).to_be_visible()
    budget = in_database(Budget.objects.get)
    assert budget.end_date is not None
    assert in_database(lambda: BudgetEntry.objects.filter(budget=budget).count()) == 3
    assert visitor.complaints == []


PEOPLE = """Code;Name;Person
4100;Marketing;user@print.example
4100;;outsider@print.example
4200;Sales;
"""
WRONG = """Code;Name;Person
4100;Marketing;nobody@print.example
no code;Sales;
4300;;user@print.example
"""


@pytest.mark.parametrize("visitor", SIZES[:1], indirect=True)
def test_people_of_cost_centers_are_imported_after_a_look_at_the_changes(visitor, tmp_path):
    page = visitor.page
    file = tmp_path / "people.csv"
    open_console(visitor, "/admin/stores/costcenter/")
    page.get_by_role("link", name="Import people").click()
    page.locator("#id_store").fill("associated")
    file.write_text(WRONG)
    page.set_input_files("input[type=file]", file)
    page.get_by_role("button", name="Read the file").click()
    expect(page.get_by_text("3 errors: nothing was imported.")).to_be_visible()
    expect(page.get_by_text("Row 2: No active user has the full name")).to_be_visible()
    expect(page.get_by_text("Row 3: no code:")).to_be_visible()
    expect(page.get_by_text("Row 4: 4300 is a new cost center and needs a name.")).to_be_visible()

    file.write_text(PEOPLE)
    page.set_input_files("input[type=file]", file)
    page.get_by_role("button", name="Read the file").click()
    expect(page.get_by_text("4100 Marketing: a new cost center")).to_be_visible()
    expect(page.get_by_text("Outsider Example joins 4100")).to_be_visible()
    shoot(visitor.page, "people")
    assert in_database(CostCenterMember.objects.count) == 0
    page.get_by_role("button", name="Import 4 changes").click()
    expect(page.get_by_text("4 changes of Associated Print imported.")).to_be_visible()
    assert in_database(CostCenterMember.objects.count) == 2

    page.get_by_role("link", name="4100").first.click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export people of Associated Print").click()
    exported = download.value.path()
    assert "4200,Sales,\n" in exported.read_text().replace("\r", "")
    page.get_by_role("link", name="Import people").click()
    page.set_input_files("input[type=file]", exported)
    page.get_by_role("button", name="Read the file").click()
    expect(page.get_by_text("already match the file")).to_be_visible()
    assert visitor.complaints == []


def test_budget_without_entries_is_deleted(visitor):
    page = visitor.page
    open_console(visitor, "/admin/stores/budget/add/?store=associated")
    page.locator("#id_name").fill("Typo")
    page.locator("#id_scope_kind").select_option("Store")
    page.locator("#id_type").select_option("Orders")
    page.locator("#id_limit").fill("1.5")
    page.locator("#id_duration").select_option("Monthly")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("because the budget counts Orders").first).to_be_visible()
    page.locator("#id_limit").fill("15")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("15 orders left of 15 orders")).to_be_visible()

    page.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("was deleted")).to_be_visible()
    assert in_database(Budget.objects.count) == 0
