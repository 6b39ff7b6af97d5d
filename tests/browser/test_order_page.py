"""One order on one page: its moves are buttons, and what became of it is said at once."""

import pytest
from playwright.sync_api import expect

from stores.orders.models import Order
from tests.support.browser.axe import violations
from tests.support.browser.console_fixtures import place_orders
from tests.support.browser.console_forms import open_console
from tests.support.scenario import PASSWORD

pytestmark = pytest.mark.slow


@pytest.fixture
def order(site) -> Order:
    place_orders(site[1])
    return Order.objects.latest("number")


@pytest.fixture
def order_path(order) -> str:
    return f"/admin/stores/order/{order.pk}/change/"


@pytest.fixture
def requested(order) -> None:
    Order.objects.update(status=40, cancellation="Requested", cancellation_reason="Wrong number on it.")


@pytest.fixture
def in_production(order) -> None:
    Order.objects.update(status=40)


def test_order_is_worked_by_its_buttons(order_path, visitor):
    page = open_console(visitor, order_path, "user")
    page.get_by_text("Add a note").click()
    page.get_by_role("form", name="Next step").get_by_label("Note").fill("Checked")
    page.keyboard.press("Enter")
    expect(page.locator(".order-title")).to_contain_text("Received")

    page.get_by_role("button", name="Accept").click()
    expect(page.locator(".order-title")).to_contain_text("Accepted")
    expect(page.locator(".order-timeline")).to_contain_text("Checked")
    page.get_by_role("button", name="Start production").click()
    page.get_by_label("Carrier").fill("UPS")
    page.get_by_role("button", name="Ship", exact=True).click()
    expect(page.get_by_role("alert").first).to_contain_text("needs both a carrier and a tracking number")
    page.get_by_label("Tracking number").fill("1Z999")
    page.get_by_role("button", name="Ship", exact=True).click()
    expect(page.locator(".order-title")).to_contain_text("Shipped")
    expect(page.locator(".order-timeline")).to_contain_text("UPS 1Z999")
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    assert violations(page) == []
    assert visitor.complaints == []


def test_cancelling_is_a_dialog_with_recipient_amount_and_note(order, order_path, visitor):
    page = open_console(visitor, order_path)
    buttons = page.get_by_role("form", name="Next step").get_by_role("button")
    assert buttons.all_inner_texts() == ["Accept", "Hold", "Cancel …", "Reject …"]
    page.get_by_role("button", name="Cancel …").click()
    dialog = page.get_by_role("dialog", name="Cancel this order? This cannot be undone.")
    expect(dialog).to_contain_text(order.recipient["Name"])
    expect(dialog).to_contain_text(f"{order.total:,.2f} {order.currency}")
    expect(dialog.get_by_label("Note")).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Cancel …")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.type("The customer called.")
    dialog.get_by_role("button", name="Cancel the order").click()

    expect(page.locator(".order-title")).to_contain_text("Cancelled")
    expect(page.locator(".order-timeline")).to_contain_text("The customer called.")
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    assert visitor.complaints == []


def test_requested_cancellation_is_decided_in_the_banner(order_path, requested, visitor):
    page = open_console(visitor, order_path, "user")
    banner = page.get_by_role("region", name="Cancellation requested")
    expect(banner).to_contain_text("Wrong number on it.")
    expect(page.locator(".order-moves .console-primary")).to_have_count(0)
    banner.get_by_role("button", name="Refuse to cancel …").click()
    page.get_by_role("dialog").get_by_role("button", name="Refuse").click()

    expect(page.get_by_text("Cancellation: Refused")).to_be_visible()
    expect(page.get_by_role("button", name="Ship", exact=True)).to_have_class(
        "console-button console-primary"
    )
    assert visitor.complaints == []


def test_cancelling_without_script_is_a_page_that_says_the_same(order, order_path, visitor):
    context = visitor.page.context.browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(f"{visitor.address}/accounts/login/?next={order_path}")
        page.fill("#id_username", "operator")
        page.fill("#id_password", PASSWORD)
        page.click("main button[type=submit]")
        page.get_by_role("button", name="Cancel …").click()
        expect(page.get_by_text(order.recipient["Name"])).to_be_visible()
        page.get_by_label("Note").fill("The customer called.")
        page.get_by_role("button", name="Cancel the order").click()
        expect(page.locator(".order-title")).to_contain_text("Cancelled")
        expect(page.locator(".order-timeline")).to_contain_text("The customer called.")
    finally:
        context.close()


def test_print_file_is_closed_by_a_button_that_stays_in_sight(order_path, visitor):
    page = open_console(visitor, order_path)
    page.locator(".order-thumb").first.click()
    dialog = page.locator("#print-view")
    expect(dialog.get_by_role("img", name="Page 2")).to_be_attached()
    dialog.evaluate("(one) => one.scrollTo(0, one.scrollHeight)")
    close = dialog.get_by_role("button", name="Close the print file")
    expect(close).to_be_in_viewport(ratio=1)
    assert violations(page) == []
    close.click()
    expect(dialog).to_be_hidden()


def test_order_in_production_is_cancelled_only_on_request(order_path, in_production, visitor):
    page = open_console(visitor, order_path, "user")
    expect(page.get_by_role("button", name="Ship a part")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel …")).to_have_count(0)
    assert visitor.complaints == []
