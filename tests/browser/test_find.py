"""A person finds an order by what a caller says, an operation by a question, and takes the data of a chart."""

import re

import pytest
from playwright.sync_api import expect

from stores.orders.models import Order
from tests.support.browser.axe import violations
from tests.support.browser.console_fixtures import place_orders

pytestmark = pytest.mark.slow


@pytest.fixture
def order(site) -> Order:
    place_orders(site[1])
    found = Order.objects.earliest("number")
    found.recipient |= {"Name": "Zoë Núñez", "City": "São Paulo"}
    found.save(update_fields=["recipient"])
    return found


def test_order_is_found_by_its_recipient_in_list_and_palette(order, visitor):
    page = visitor.page
    visitor.enter("/admin/stores/order/", "operator")

    page.get_by_role("searchbox", name=re.compile("Number, ExternalID, recipient")).fill("paulo zoe")
    page.keyboard.press("Enter")
    expect(page.locator("#result_list tbody tr")).to_have_count(1)
    expect(page.locator("#result_list")).to_contain_text("Zoë Núñez")

    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Delivery method").select_option("Ground")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_role("list", name="Active filters")).to_contain_text("Delivery: Ground")
    expect(page.locator("#result_list tbody tr")).to_have_count(1)
    assert violations(page) == []

    page.keyboard.press("Control+k")
    page.keyboard.type("nunez")
    option = page.locator("#command [role=option]").first
    expect(option).to_contain_text("Zoë Núñez")
    expect(option).to_contain_text(str(order.number))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/admin/stores/order/{order.pk}/change/")

    visitor.go("/admin/")
    with page.expect_download() as download:
        page.locator("#board-orders-chart ~ details summary").click()
        page.locator("#board-orders-chart ~ details").get_by_role("link", name="Download as CSV").click()
    assert download.value.suggested_filename == "orders-by-day.csv"
    assert download.value.path().read_text("utf-8").splitlines()[-1].split(",")[1:3] == ["2", "2"]
    assert visitor.complaints == []


def test_question_leads_to_the_operation(visitor):
    page = visitor.page
    visitor.go("/api/v1/docs")
    field = page.get_by_label("Search the reference")

    field.fill("place an order")
    expect(page.locator("nav.ref-nav a", has_text="Submit an order")).to_be_visible()
    field.fill("How do I place an order?")
    page.keyboard.press("Enter")

    first = page.locator(".ref-list a").first
    expect(first).to_have_text("Submit an order")
    first.click()
    page.wait_for_url("**/operations/order_create")
    assert visitor.complaints == []
