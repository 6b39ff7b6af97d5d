"""A print-ready PDF in the portal, by mouse: dropped, looked at, corrected, ordered."""

import base64
from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from tests.factories.orders import make_product
from tests.support.browser.console_forms import open_console
from tests.support.browser.visual_checks import LOOKS, SERIOUS, faults_of, shoot
from tests.support.printing.document_making import document

pytestmark = pytest.mark.slow

BLEEDING = b"0.1 0.6 0.5 0 k -1000 -1000 20000 20000 re f 0 0 0 0 k 60 60 120 60 re f"


@pytest.fixture
def site(site):
    make_product(site[1].demo, "leaflet", PageCount=2, WidthMM=Decimal("88.9"), HeightMM=Decimal("50.8"))
    return site


def drop(page: Page, content: bytes) -> None:
    """As a file that is let go over the area."""
    files = page.evaluate_handle(
        """(text) => {
            const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
            const files = new DataTransfer();
            files.items.add(new File([bytes], "leaflet.pdf", { type: "application/pdf" }));
            return files;
        }""",
        base64.b64encode(content).decode(),
    )
    area = page.locator(".artwork-drop")
    area.dispatch_event("dragenter", {"dataTransfer": files})
    expect(area).to_contain_class("artwork-over")
    area.dispatch_event("drop", {"dataTransfer": files})


def test_pdf_is_dropped_checked_replaced_and_ordered(visitor):
    page = visitor.page
    visitor.enter("/catalog/demo/leaflet")
    page.get_by_role("link", name="Print your own PDF").click()
    expect(page.get_by_role("heading", name="Print your own PDF")).to_be_visible()
    shoot(page, "artwork-empty")

    drop(page, b"%PDF-1.7 nothing")
    expect(page.locator("#pdf-errors")).to_contain_text("The PDF is damaged. Export it again.")

    drop(page, document(pages=2, bleed=0, content=BLEEDING))
    expect(page.get_by_role("heading", name="This PDF cannot be printed yet")).to_be_visible()
    expect(page.get_by_label("Preflight findings").get_by_text("too little bleed")).to_have_count(2)
    expect(page.get_by_alt_text("Page 1 of the PDF on page 1 of the product")).to_be_visible()
    expect(page.get_by_role("button", name="Place a demo order")).to_have_count(0)
    assert faults_of(visitor, "PDF with errors", looks=LOOKS, impacts=SERIOUS) == []
    shoot(page, "artwork-errors")

    drop(page, document(pages=4, margin=6, content=BLEEDING))
    expect(page.get_by_role("heading", name="This PDF can be printed, with warnings")).to_be_visible()
    page.get_by_label("First page to print").select_option("3")
    page.get_by_role("button", name="Check from there").click()
    expect(page.get_by_role("heading", name="This PDF is ready to print")).to_be_visible()
    expect(page.get_by_alt_text("Page 4 of the PDF on page 2 of the product")).to_be_visible()
    shoot(page, "artwork-ready")

    page.get_by_role("button", name="Get prices").click()
    expect(page.get_by_text("12.00 USD").first).to_be_visible()
    page.get_by_role("button", name="Place a demo order").click()
    expect(page.get_by_text("Order 1")).to_be_visible()
    assert visitor.complaints == []


def test_staff_check_a_pdf_of_a_customer_in_the_console(site, visitor):
    page = visitor.page
    open_console(visitor, "/admin/stores/product/?q=leaflet")
    page.get_by_role("link", name="leaflet").first.click()
    page.get_by_role("link", name="Check a PDF").click()
    drop(page, document(pages=2, bleed=0, content=BLEEDING))

    expect(page.get_by_role("heading", name="This PDF cannot be printed yet")).to_be_visible()
    expect(page.get_by_label("Preflight findings").get_by_text("too little bleed")).to_have_count(2)
    expect(page.locator(".preflight-marks").first).to_be_visible()
    expect(page.locator(".artwork-trim").first).to_be_attached()
    picture = page.get_by_alt_text("Page 1 of the PDF on page 1 of the product")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("naturalWidth", 900)
    assert faults_of(visitor, "PDF in the console", looks=LOOKS, impacts=SERIOUS) == []
    shoot(page, "artwork-console")

    drop(page, document(pages=3, content=BLEEDING))
    page.get_by_label("First page to print").select_option("2")
    page.get_by_role("button", name="Check from there").click()
    expect(page.get_by_role("heading", name="This PDF is ready to print")).to_be_visible()
