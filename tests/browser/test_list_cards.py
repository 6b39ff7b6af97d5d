"""Lists of the console on a phone: a record is a card of its name and what is known of it."""

import pytest
from playwright.sync_api import expect

from tests.factories.orders import RECIPIENT
from tests.support.browser.console_fixtures import place_orders
from tests.support.browser.console_forms import open_console
from tests.support.browser.visual_checks import OVERFLOW, box_of

pytestmark = pytest.mark.slow


@pytest.fixture
def orders(site) -> None:
    place_orders(site[1])


@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize("visitor", [(390, "dark")], indirect=True)
def test_records_are_short_cards_without_labels_of_controls(visitor):
    page = visitor.page
    for address in ("/admin/stores/product/", "/admin/production/job/", "/admin/accounts/user/"):
        open_console(visitor, address) if address.endswith("product/") else visitor.go(address)
        for row in page.locator("#result_list tr.data-row").all()[:3]:
            expect(row).to_be_visible()
            labels = row.evaluate(
                "row => [...row.children].filter(cell => cell.offsetParent)"
                ".map(cell => [cell.className.includes('action-checkbox'), getComputedStyle(cell, '::before').content])"
            )
            assert all(content == "none" for is_choice, content in labels if is_choice)
            assert row.bounding_box()["height"] < 200
            assert "Select record" not in row.inner_text()
    assert visitor.complaints == []


@pytest.mark.slow
@pytest.mark.usefixtures("orders")
@pytest.mark.parametrize("visitor", [(390, "light")], indirect=True)
def test_order_on_a_phone_names_its_recipient_below_its_product(visitor):
    page = visitor.page
    open_console(visitor, "/admin/stores/order/")
    row = page.locator("#result_list tbody tr").first
    what, recipient = row.locator(".orders-what small"), row.locator(".col-customer")
    expect(recipient).to_contain_text(RECIPIENT["Name"])
    assert box_of(recipient)["y"] >= box_of(what)["y"] + box_of(what)["height"] - 1
    assert box_of(recipient)["x"] == pytest.approx(box_of(what)["x"], abs=12)
    assert page.evaluate(OVERFLOW) <= 0
    assert visitor.complaints == []
