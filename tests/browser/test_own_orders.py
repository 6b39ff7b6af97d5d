"""A person orders without an application, finds the order again and cancels it."""

import pytest
from playwright.sync_api import expect

from stores.orders.models import Order, OrderStatus
from tests.factories.orders import make_card
from tests.support.browser.browser_sessions import in_database
from tests.support.browser.console_forms import SIZES
from tests.support.browser.visual_checks import faults_of, shoot

pytestmark = pytest.mark.slow


@pytest.fixture
def site(site):
    world = site[1]
    make_card(world.demo, "card")
    make_card(world.associated)
    return site


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_own_order_is_placed_found_and_cancelled(visitor):
    page = visitor.page
    visitor.enter("/orders")
    expect(page.get_by_role("heading", name="No orders yet")).to_be_visible()
    assert faults_of(visitor, "no own orders") == []
    visitor.go("/catalog/demo/card")
    page.get_by_label("Send requests as").select_option("me")
    page.get_by_label("Name on the card").fill("Grace Hopper")
    page.get_by_role("button", name="Get prices").click()
    page.get_by_role("button", name="Place a demo order").click()
    expect(page.get_by_text("is placed.")).to_be_visible()
    order = in_database(lambda: Order.objects.latest("number"))
    expect(page.get_by_role("heading", name=f"Order {order.number}")).to_be_visible()

    visitor.go("/catalog")
    page.get_by_role("link", name="Your orders").click()
    expect(page.get_by_role("heading", name="Your orders")).to_be_visible()
    assert faults_of(visitor, "own orders") == []
    shoot(page, "own-orders")
    page.get_by_role("link", name=f"Order {order.number}").click()
    expect(page.get_by_alt_text("Proof of")).to_be_visible()
    page.get_by_text("Cancel the order", exact=True).first.click()
    page.get_by_label("Reason").fill("Ordered twice")
    assert faults_of(visitor, "own order") == []
    shoot(page, "own-order")
    page.get_by_role("button", name="Cancel the order").click()
    expect(page.get_by_text(f"Order {order.number} is cancelled.")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel the order")).to_have_count(0)
    in_database(order.refresh_from_db)
    assert (order.status, order.cancellation_reason) == (OrderStatus.CANCELLED, "Ordered twice")
    assert visitor.complaints == []


def test_owner_of_an_application_orders_as_herself(visitor):
    """The page opened for the application, and had no recipient nor button after the choice."""
    page = visitor.page
    visitor.enter("/catalog/associated/card-two-sided")
    page.get_by_label("Send requests as").select_option(label="Mail Studio")
    page.get_by_label("Name on the card").fill("Grace Hopper")
    page.get_by_role("button", name="Get prices").click()
    expect(page.get_by_text("good until")).to_be_visible()
    expect(page.get_by_role("button", name="Place the order")).to_have_count(0)

    page.get_by_label("Send requests as").select_option("me")
    for label, words in (
        ("Name", "Dana Whitfield"),
        ("Address", "1200 17th Street"),
        ("City", "Denver"),
        ("Postal code", "80202"),
    ):
        page.get_by_label(label, exact=True).fill(words)
    page.get_by_role("button", name="Get prices").click()
    page.get_by_role("button", name="Place the order").click()
    expect(page.get_by_text("is placed.")).to_be_visible()
    order = in_database(lambda: Order.objects.latest("number"))
    assert (order.application_id, order.recipient["Name"]) == (None, "Dana Whitfield")
    assert visitor.complaints == []
