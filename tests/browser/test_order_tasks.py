"""The day's work on orders, done as a person does it; what it takes is counted."""

import sys

import pytest
from playwright.sync_api import expect

from stores.orders.models import Order
from tests.support.browser.axe import violations
from tests.support.browser.console_fixtures import ask_for_stores, place_orders
from tests.support.browser.console_forms import open_console
from tests.support.browser.task_counts import TaskCounts
from tests.support.browser.visual_checks import LOOKS, OTHER_LOOKS, SERIOUS, faults_of

pytestmark = pytest.mark.slow

BOARD = "/admin/stores/order/"


@pytest.fixture
def placed(site):
    place_orders(site[1])
    ask_for_stores(site[1])
    Order.objects.filter(pk=Order.objects.earliest("number").pk).update(latest_delivery="2026-01-02")
    return list(Order.objects.order_by("number"))


@pytest.fixture
def in_production(placed) -> None:
    Order.objects.filter(pk=placed[0].pk).update(status=40)


def test_days_work_takes_few_actions(placed, visitor):
    page, counts = open_console(visitor, "/admin/"), TaskCounts()

    with counts.task("Accept all new orders", page) as person:
        person.click(page.get_by_role("link", name="Received").first)
        person.click(page.get_by_label("Select all orders on this page"))
        person.click(page.get_by_role("button", name="Accept", exact=True))
        expect(page.get_by_text("2 orders moved.")).to_be_visible()
    with counts.task("Start the production of one order by keys", page) as person:
        visitor.go(f"{BOARD}?status__exact=30")
        person.press("j", "x")
        person.click(page.get_by_role("button", name="Start production", exact=True))
        expect(page.get_by_text("1 order moved.")).to_be_visible()
    with counts.task("Find late orders, save them as a view", page) as person:
        visitor.go("/admin/")
        person.click(page.get_by_role("link", name="1 late order"))
        expect(page.get_by_text("days late")).to_be_visible()
        person.click(page.locator("summary", has_text="View"))
        person.fill(page.get_by_label("Name"), "Burning")
        person.click(page.get_by_role("button", name="Save view", exact=True))
        expect(page.get_by_role("navigation", name="Saved views")).to_contain_text("Burning")
    with counts.task("Find an order by its number", page) as person:
        person.press("Control+k")
        person.type(str(placed[0].number))
        expect(page.locator("#command li").first).to_contain_text(str(placed[0].number))
        person.press("Enter")
        expect(page.locator(".order-title")).to_contain_text(str(placed[0].number))
    with counts.task("Take one order from accepted to shipped", page) as person:
        person.click(page.get_by_role("button", name="Start production"))
        person.fill(page.get_by_label("Carrier"), "UPS")
        person.fill(page.get_by_label("Tracking number"), "1Z42")
        person.click(page.get_by_role("button", name="Ship", exact=True))
        expect(page.locator(".order-title")).to_contain_text("Shipped")
    with counts.task("Comment on an order", page) as person:
        person.fill(page.get_by_label("Comment"), "The customer called.")
        person.click(page.get_by_role("button", name="Add comment"))
        expect(page.locator(".order-timeline .is-comment")).to_contain_text("The customer called.")
    with counts.task("Look at the print file", page) as person:
        person.click(page.locator(".order-thumb").first)
        dialog = page.locator("#print-view")
        expect(dialog.get_by_role("img", name="Page 2")).to_be_attached()
        person.press("Escape")
        expect(dialog).to_be_hidden()
    with counts.task("Print an order again", page) as person:
        person.click(page.get_by_role("link", name="Reprint …"))
        person.click(page.get_by_role("button", name="Order the reprint"))
        expect(page.get_by_text("Reprint of")).to_be_visible()

    sys.stdout.write(f"\n{counts.table()}\n")
    taken = {name: actions for name, actions, _ in counts.rows}
    assert taken == {
        "Accept all new orders": 3,
        "Start the production of one order by keys": 3,
        "Find late orders, save them as a view": 4,
        "Find an order by its number": 3,
        "Take one order from accepted to shipped": 4,
        "Comment on an order": 2,
        "Look at the print file": 2,
        "Print an order again": 2,
    }
    assert visitor.complaints == []


def test_list_is_worked_by_keys(placed, visitor):
    page = open_console(visitor, BOARD, "user")
    rows = page.locator("#result_list tbody tr")

    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(rows.nth(1).get_by_role("checkbox")).to_be_checked()
    expect(page.locator(".orders-chosen")).to_have_text("1 selected")
    page.keyboard.press("k")
    page.keyboard.press("Shift+X")
    expect(page.locator(".orders-chosen")).to_have_text("2 selected")
    page.keyboard.press("Escape")
    expect(page.locator(".orders-bulk")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("j?x")
    expect(page.locator("#orders-q")).to_have_value("j?x")
    page.locator("#orders-q").fill("")
    page.get_by_label("Select all orders on this page").focus()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator(".order-title")).to_contain_text(str(placed[-1].number))
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", [(390, "light")], indirect=True)
def test_bar_of_chosen_orders_offers_what_they_allow(placed, in_production, visitor):
    page = open_console(visitor, BOARD)
    bar = page.locator(".orders-bulk")
    files = ["Print files", "Packing slips", "CSV"]

    page.get_by_label(f"Select order {placed[0].number}").check()
    expect(bar.get_by_role("button")).to_have_text(["Hold", "Ship …", *files])
    expect(bar.locator(".console-primary")).to_have_text("Ship …")
    page.get_by_label(f"Select order {placed[1].number}").check()
    expect(bar.get_by_role("button")).to_have_text(["Accept", "Hold", "Ship …", *files, "Cancel …"])
    expect(bar.locator(".console-primary")).to_have_text("Accept")
    assert bar.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert visitor.complaints == []


def test_filters_columns_and_sort_are_set_and_removed(placed, visitor):
    page = open_console(visitor, BOARD)

    page.locator("summary", has_text="Filters").click()
    filters = page.get_by_role("form", name="Filters")
    wide = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    box = filters.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.set_viewport_size(wide)
    filters.get_by_label("Status").select_option("Received")
    filters.get_by_label("Delivery method").select_option("GROUND")
    page.get_by_role("button", name="Apply").click()
    chips = page.get_by_role("list", name="Active filters")
    expect(chips).to_contain_text("Status: Received")
    page.locator("summary", has_text="View").click()
    page.get_by_role("form", name="Columns").get_by_label("ExternalID").check()
    page.get_by_role("form", name="Columns").get_by_label("Total").uncheck()
    page.get_by_role("button", name="Show these").click()
    expect(page.get_by_role("columnheader", name="ExternalID")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Total")).to_have_count(0)
    page.get_by_label("Sort").select_option("Oldest first")
    expect(page.locator(".orders-link").first).to_have_text(str(placed[0].number))
    chips.get_by_role("link", name="Delivery: GROUND").click()
    expect(chips).not_to_contain_text("GROUND")
    expect(page.get_by_role("columnheader", name="ExternalID")).to_be_visible()
    assert visitor.complaints == []


def test_list_with_chosen_orders_has_no_fault_in_any_look(placed, visitor):
    open_console(visitor, BOARD)

    def choose() -> int:
        status = visitor.go(BOARD)
        visitor.page.locator(".action-select").first.check()
        return status

    looks = [*LOOKS, *OTHER_LOOKS]
    assert faults_of(visitor, "orders chosen", choose, looks=looks, impacts=SERIOUS) == []
