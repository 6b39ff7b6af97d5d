"""Pages on a phone as a person reads them: nothing is cut, touches or is shown where it does not belong."""

import pytest
from playwright.sync_api import expect

from tests.factories.orders import make_product
from tests.support.browser.browser_sessions import in_database
from tests.support.browser.console_forms import open_console

ON_A_PHONE = pytest.mark.parametrize("visitor", [(390, "dark")], indirect=True)
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("business_card"), ON_A_PHONE]
SCROLLS = "place => place.scrollWidth - place.clientWidth"


def open_portal(visitor, path):
    visitor.enter(path)
    visitor.page.wait_for_url(lambda address: "/login" not in address)


def test_prices_and_code_are_read_without_scrolling_sideways(visitor):
    page = visitor.page
    open_portal(visitor, "/catalog/demo/business-card")
    page.get_by_role("button", name="Get prices").click()
    prices = page.get_by_role("region", name="Prices")
    expect(prices.get_by_text("12.00 USD").first).to_be_visible()
    assert prices.evaluate(SCROLLS) == 0
    assert page.locator(".code pre").first.evaluate(SCROLLS) == 0
    assert visitor.complaints == []


def test_file_of_rows_has_a_recipient_only_where_all_rows_go_to_one(visitor):
    page = visitor.page
    open_portal(visitor, "/catalog/demo/business-card/batch")
    recipient = page.get_by_role("group", name="Recipient of all rows")
    page.get_by_label("Send all rows to one recipient").check()
    expect(recipient).to_be_visible()
    page.get_by_label("Send each row to its own recipient").check()
    expect(recipient).to_be_hidden()


def test_place_to_drop_a_pdf_stands_apart_from_the_choice_above(visitor):
    page = visitor.page
    open_portal(visitor, "/catalog/demo/business-card/artwork")
    choice, drop = (page.locator(name).bounding_box() for name in ("#as", ".artwork-drop"))
    assert drop["y"] - choice["y"] - choice["height"] >= 16


def test_events_are_read_without_marks_of_their_source(visitor):
    visitor.go("/api/v1/docs/events")
    expect(visitor.page.locator("main code").get_by_text("WarnAt", exact=True)).to_be_visible()
    assert "`" not in visitor.page.locator("main").inner_text()


def test_prices_of_a_product_are_kept_without_scrolling_sideways(visitor):
    page = visitor.page
    product = in_database(lambda: make_product(visitor.world.associated))
    open_console(visitor, f"/admin/stores/product/{product.pk}/change/")
    prices = page.get_by_role("group", name="Prices")
    expect(prices).to_be_hidden()
    page.get_by_role("heading", name="Prices in").click()
    assert prices.evaluate(SCROLLS) == 0
    cell = prices.locator("tbody td").first
    method = prices.locator("thead [data-part=code]").first.locator("option:checked").inner_text()
    expect(cell).to_have_attribute("data-label", method)
    prices.get_by_label("Price, ").first.fill("0.77")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("is saved")).to_be_visible()
    assert str(in_database(product.delivered_prices.first).price) == "0.77"
    assert visitor.complaints == []


def test_part_of_a_product_opens_for_its_link_and_its_mistake(visitor):
    page = visitor.page
    product = in_database(lambda: make_product(visitor.world.associated, DeliveredPrices=[]))
    open_console(visitor, f"/admin/stores/product/{product.pk}/change/")
    weight = page.get_by_label("Paper weight")
    expect(weight).to_be_hidden()
    page.get_by_role("link", name="Prices", exact=True).click()
    expect(page.get_by_role("group", name="Prices")).to_be_visible()
    page.get_by_role("heading", name="Paper and finishing").click()
    weight.fill("-1")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(weight).to_have_attribute("aria-invalid", "true")
    expect(weight).to_be_visible()


def test_roles_of_a_user_are_cards_without_empty_lines(visitor):
    open_console(visitor, f"/admin/accounts/user/{visitor.world.user.pk}/change/")
    role = visitor.page.locator(".form-group:not(.empty-form) > .form-row").first
    expect(role.locator("td").filter(visible=True).first).to_be_visible()
    assert role.bounding_box()["height"] < 200
    expect(role.locator("td:has(.is-nothing)").filter(visible=True)).to_have_count(0)
