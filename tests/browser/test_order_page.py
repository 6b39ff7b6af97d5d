"""One order on one page: its moves are buttons, and what became of it is said at once."""

import pytest
from playwright.sync_api import expect

from stores.orders.models import Order
from tests.support.axe import violations
from tests.support.console_fixtures import place_orders


@pytest.fixture
def order_path(site) -> str:
    place_orders(site[1])
    return f"/admin/stores/order/{Order.objects.latest('number').pk}/change/"


def open_as(visitor, name: str, path: str):
    visitor.go(f"/accounts/login/?next={path}")
    visitor.sign_in(name)
    visitor.page.wait_for_url(visitor.address + path)
    return visitor.page


@pytest.mark.slow
def test_order_is_worked_by_its_buttons(order_path, visitor):
    page = open_as(visitor, "user", order_path)
    page.get_by_text("Add a note").click()
    page.get_by_label("Note").fill("Checked")
    page.keyboard.press("Enter")
    expect(page.locator(".order-title")).to_contain_text("Received")

    page.get_by_role("button", name="Accept").click()
    expect(page.locator(".order-title")).to_contain_text("Accepted")
    expect(page.locator(".order-timeline")).to_contain_text("Checked")
    page.get_by_role("button", name="Start production").click()
    page.get_by_label("Carrier").fill("UPS")
    page.get_by_role("button", name="Ship", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("needs its carrier and its tracking number")
    page.get_by_label("Tracking number").fill("1Z999")
    page.get_by_role("button", name="Ship", exact=True).click()
    expect(page.locator(".order-title")).to_contain_text("Shipped")
    expect(page.locator(".order-timeline")).to_contain_text("UPS 1Z999")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    assert violations(page) == []
    assert visitor.complaints == []


@pytest.mark.slow
def test_cancelling_needs_confirmation_and_returns_to_the_order(order_path, visitor):
    page = open_as(visitor, "operator", order_path)
    page.get_by_role("button", name="Cancel …").click()
    expect(page.get_by_text("Cancel this order? This cannot be undone.")).to_be_visible()
    page.get_by_role("button", name="Cancel the order").click()

    expect(page.locator(".order-title")).to_contain_text("Cancelled")
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    assert visitor.complaints == []
