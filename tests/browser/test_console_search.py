"""Records are found and opened by the keyboard alone, in the dialog and in the side bar."""

import re

import pytest
from playwright.sync_api import Page, expect

from stores.orders.models import Order
from tests.support.browser.axe import violations
from tests.support.browser.console_fixtures import place_orders

pytestmark = pytest.mark.slow


@pytest.fixture
def numbers(site) -> list[str]:
    place_orders(site[1])
    return [str(number) for number in Order.objects.order_by("number").values_list("number", flat=True)]


def open_console(visitor, name: str) -> Page:
    visitor.enter("/admin/", name)
    visitor.page.wait_for_url(f"{visitor.address}/admin/")
    return visitor.page


@pytest.mark.parametrize("name", ["operator", "user"])
def test_order_number_and_enter_open_the_order(numbers, visitor, name):
    page = open_console(visitor, name)
    page.keyboard.press("Control+k")
    expect(page.locator("#search-input-command")).to_be_focused()
    # Entered before the answer is there: opened as soon as it is.
    page.keyboard.type(numbers[-1])
    page.keyboard.press("Enter")

    page.wait_for_url(re.compile(r"/admin/stores/order/[0-9a-f-]{36}/change/"))
    expect(page.locator("main")).to_contain_text(numbers[-1])
    assert visitor.complaints == []


def test_arrows_move_escape_closes_and_no_result_is_announced(numbers, visitor):
    page = open_console(visitor, "operator")
    page.keyboard.press("Control+k")
    field, said = page.locator("#search-input-command"), page.locator("#command [role=status]")
    page.keyboard.type(numbers[0][:-2])
    options = page.locator("#command [role=option]")
    expect(options).to_have_count(len(numbers))
    expect(options.first).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", options.first.get_attribute("id"))
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    assert violations(page) == []

    field.fill("no such thing")
    expect(said).to_have_text("No results for “no such thing”")
    page.keyboard.press("Enter")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#command")).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(field).to_have_value("")
    assert visitor.complaints == []


def test_side_bar_finds_people_and_is_left_by_escape(numbers, visitor):
    page = open_console(visitor, "operator")
    page.keyboard.press("t")
    expect(page.locator("#nav-filter")).to_be_focused()
    page.keyboard.type("outsider@")
    expect(page.locator(".find-side [role=option]")).to_have_count(1)
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(page.locator(".find-side [role=option]")).to_have_count(0)
    page.keyboard.type("outsider@")
    page.locator(".find-side [role=option]").click()
    page.wait_for_url(re.compile("/admin/accounts/user/"))
    assert visitor.complaints == []
