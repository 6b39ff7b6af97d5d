"""The operator's tasks in each look. In the light at a desk they are driven where their actions are counted."""

import pytest
from playwright.sync_api import Page, expect

from accounts.models import AssociationRequest
from stores.catalog.models import Product
from tests.support.browser.console_fixtures import ask_for_stores, place_orders
from tests.support.browser.console_forms import begin_product, open_console, price_product, ready
from tests.support.browser.visual_checks import LIST_OVERFLOW, LOOKS, OTHER_LOOKS, OVERFLOW, shoot

pytestmark = [pytest.mark.slow, pytest.mark.looks]


@pytest.fixture
def day(site) -> tuple[AssociationRequest, Product]:
    """Two new orders, a request and a product with a template."""
    place_orders(site[1])
    ask_for_stores(site[1])
    request = AssociationRequest.objects.select_related("application", "store").first()
    return request, Product.objects.get(external_id="card-two-sided")


def fits(page: Page, name: str) -> None:
    scheme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
    shoot(page, f"task-{name}-{page.viewport_size['width']}-{scheme}")
    assert page.evaluate(OVERFLOW) <= 0, name
    assert page.evaluate(LIST_OVERFLOW) <= 0, name


@pytest.mark.parametrize("visitor", [*LOOKS[1:], *OTHER_LOOKS], indirect=True)
def test_tasks_of_an_operator_in_each_look(day, visitor):
    page, (request, product) = visitor.page, day
    open_console(visitor, "/admin/")
    fits(page, "start")
    decide_request(page, request)
    handle_orders(visitor, page)
    make_product(visitor, page)
    publish_copy(visitor, page, product)
    move_box(visitor, page, product)
    find_out(visitor, page, product)
    assert visitor.complaints == []


def decide_request(page: Page, request: AssociationRequest) -> None:
    page.locator(f"main a[href*='{request.pk}']").first.click()
    expect(page.get_by_text("would be able to").first).to_be_visible()
    fits(page, "request")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text(f"{request}: approved.")).to_be_visible()
    fits(page, "requests")


def handle_orders(visitor, page: Page) -> None:
    visitor.go("/admin/stores/order/")
    fits(page, "orders")
    page.locator(".action-select").first.check()
    page.get_by_role("button", name="Accept", exact=True).click()
    expect(page.get_by_text("1 order moved.")).to_be_visible()
    page.locator(".orders-link").first.click()
    page.get_by_role("button", name="Start production").click()
    expect(page.locator(".order-title")).to_contain_text("In production")
    page.get_by_label("Carrier").fill("UPS")
    page.get_by_label("Tracking number").fill("1Z999")
    fits(page, "order")
    page.get_by_role("button", name="Ship", exact=True).click()
    expect(page.locator(".order-title")).to_contain_text("Shipped")


def make_product(visitor, page: Page) -> None:
    visitor.go("/admin/stores/product/")
    fits(page, "products")
    begin_product(page)
    page.locator("thead [data-part=code]").first.select_option(index=1)
    price_product(page)
    fits(page, "product-new")
    page.get_by_role("button", name="Save and publish").click()
    expect(page.get_by_role("heading", name="In the catalog")).to_be_visible()
    fits(page, "product-made")


def publish_copy(visitor, page: Page, product: Product) -> None:
    visitor.go(f"/admin/stores/product/{product.pk}/change/")
    page.get_by_role("button", name="Duplicate").click()
    page.fill("[name=name]", "Card of the look")
    fits(page, "product")
    page.get_by_role("button", name="Save and publish").click()
    expect(page.get_by_role("heading", name="In the catalog")).to_be_visible()


def move_box(visitor, page: Page, product: Product) -> None:
    visitor.go(f"/admin/stores/product/{product.pk}/template/")
    ready(page)
    fits(page, "designer")
    found = page.locator(".ds-boxes").get_by_role("button").first
    found.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".ds-state")).to_have_text("Not saved yet")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".ds-state")).to_contain_text("Version")


def find_out(visitor, page: Page, product: Product) -> None:
    visitor.go("/admin/audit/")
    expect(page.locator(".audit-entry").first).to_contain_text("card-two-sided")
    fits(page, "audit")
