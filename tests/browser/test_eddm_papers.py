"""What an operator keeps for the papers of EDDM orders, and the papers on the page of an order."""

import io

import pytest
from playwright.sync_api import expect
from pypdf import PdfReader

from stores.orders.models import Order
from tests.factories.eddm import make_selection
from tests.factories.forms import make_form
from tests.factories.orders import make_product, order_body
from tests.support.browser.axe import violations
from tests.support.browser.console_forms import SIZES, open_console
from tests.support.browser.visual_checks import shoot

pytestmark = pytest.mark.slow

FORM = {"name": "ps3587.pdf", "mimeType": "application/pdf"}


@pytest.fixture
def eddm_order(site) -> Order:
    world = site[1]
    make_product(world.associated, "mailer", IsEddm=True, DefaultQty=200, MaximumQty=25_000)
    items = [
        {"ProductID": "mailer", "EddmSelectionID": str(make_selection(application=world.application).pk)}
    ]
    response = world.as_application().call("POST", "/store/associated/order", order_body() | {"Items": items})
    assert response.status_code == 201, response.json()
    return Order.objects.get()


def text_of(download) -> str:
    content = io.BytesIO(download.path().read_bytes())
    return "\n".join(page.extract_text() for page in PdfReader(content).pages)


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_postage_and_the_form_are_kept_and_the_papers_have_both(eddm_order, visitor):
    page = visitor.page
    open_console(visitor, "/admin/delivery/postageprice/add/")
    page.fill("[name=starts]", "2026-01-01")
    page.fill("[name=per_piece]", "0")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".errorlist, .errornote").first).to_be_visible()
    page.fill("[name=per_piece]", "0.25")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was added successfully")).to_be_visible()
    visitor.go("/admin/delivery/postageprice/")
    expect(page.locator("#result_list")).to_contain_text("0.25")

    visitor.go("/admin/delivery/officialform/add/")
    page.locator("input[type=file]").set_input_files({**FORM, "buffer": b"%PDF-1.7 broken"})
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("form").first).to_contain_text("This is no PDF, or it is damaged.")
    page.locator("input[type=file]").set_input_files({**FORM, "buffer": make_form()})
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Preview with sample values")).to_be_visible()
    expect(page.locator("[name=mailer]")).to_have_value("Mailer Name")
    shoot(page, f"official-form-{page.viewport_size['width']}")
    assert violations(page) == []
    page.fill("[name=row_route]", "Line{n}")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("form").first).to_contain_text("The form has no field 'Line1'.")
    page.fill("[name=row_route]", "Route{n}")
    page.locator("[name=_save]").click()
    with page.expect_download() as sample:
        page.get_by_role("link", name="Download a filled sample").click()
    assert "SAMPLE POST OFFICE" in text_of(sample.value)

    visitor.go(f"/admin/stores/order/{eddm_order.pk}/change/")
    page.get_by_text("EDDM: 3 routes").click()
    expect(page.locator(".eddm-routes")).to_contain_text("84101: 2 routes, 289 pieces")
    shoot(page, f"eddm-order-{page.viewport_size['width']}")
    assert violations(page) == []
    with page.expect_download() as papers:
        page.get_by_role("link", name="EDDM papers of 1").click()
    text = text_of(papers.value)
    assert "$150.00" in text
    assert "PS Form 3587 is filled at the end of this file: 2 copies" in text
    assert "84101C001-1-3-100" in text
    assert visitor.complaints == []


def test_product_is_marked_for_eddm(eddm_order, visitor):
    page = visitor.page
    open_console(visitor, "/admin/stores/product/")
    page.get_by_role("link", name="Product mailer").first.click()
    mark = page.get_by_role("checkbox", name="For EDDM")
    expect(mark).to_be_checked()
    mark.uncheck()
    shoot(page, "eddm-product")
    page.locator("[name=_save]").first.click()
    expect(page.get_by_role("checkbox", name="For EDDM")).not_to_be_checked()
    assert visitor.complaints == []


def test_portal_shows_the_routes_of_an_order(eddm_order, site, visitor):
    page = visitor.page
    address = f"/applications/{site[1].application.pk}/orders/{eddm_order.pk}"
    visitor.enter(address)
    page.wait_for_url(visitor.address + address)
    page.get_by_text("EDDM: 3 routes").click()
    expect(page.locator(".eddm-routes")).to_contain_text("84102: 1 route, 311 pieces")
    assert visitor.complaints == []
