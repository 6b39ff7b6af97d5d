"""A file of rows becomes orders, as a buyer does it in the portal and staff do it in the console."""

import base64
from pathlib import Path

import pytest
from playwright.sync_api import expect

from stores.batches.models import Batch
from stores.batches.services import checking
from stores.batches.services.ordering import ORDER_TASK
from stores.batches.services.rows import CHECK_TASK
from stores.orders.models import Order
from tests.factories.budgets import enable_budgets, make_budget
from tests.factories.orders import make_card
from tests.support.batches.batches import change_template
from tests.support.browser.browser_sessions import in_database
from tests.support.browser.console_forms import SIZES, open_console
from tests.support.browser.visual_checks import OVERFLOW, shoot
from tests.support.servers.queued_jobs import working

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("business_card")]
# LibreOffice wrote it; its ZIP codes are numbers that show five digits, and the addressees are formulas.
FILE = Path(__file__).parents[1] / "stores" / "batches" / "files" / "libreoffice" / "cards.xlsx"
DRAGGED = """([name, content]) => {
    const dragged = new DataTransfer();
    dragged.items.add(new File([Uint8Array.from(atob(content), (one) => one.charCodeAt())], name));
    return dragged;
}"""
NAMES = {"Ada Lovelace", "Alan Turing", "Grace Hopper"}
CHOSEN = {
    "Row: Name on the card": "0",
    "Row: E-mail": "1",
    "Recipient: Name": "2",
    "Recipient: Address line 1": "3",
    "Recipient: City": "4",
    "Recipient: ZIP code": "5",
    "Recipient: Country": "6",
}


def look(visitor, name):
    assert visitor.page.evaluate(OVERFLOW) <= 0
    shoot(visitor.page, f"batch-{name}-{visitor.page.viewport_size['width']}")


def choose_columns(page):
    expect(page.get_by_role("heading", name="Which column is which?")).to_be_visible()
    for label, column in CHOSEN.items():
        page.get_by_label(label, exact=True).select_option(column)
    expect(page.locator("#target-0 + .columns-sample")).to_contain_text("Ada Lovelace")


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_file_is_mapped_corrected_and_ordered(visitor, monkeypatch):
    page = visitor.page
    visitor.enter("/catalog/demo/business-card")
    page.get_by_role("link", name="Order from a file").click()
    page.get_by_label("Name (optional)", exact=True).fill("Welcome cards")
    look(visitor, "new")
    page.get_by_role("button", name="Continue to the file").click()
    look(visitor, "upload")
    page.set_input_files("#file", FILE)

    choose_columns(page)
    look(visitor, "mapping")
    with working(CHECK_TASK, ORDER_TASK):
        page.get_by_role("button", name="Check all rows").click()
        faulty = page.locator("#row-3")
        expect(faulty).to_contain_text("Email is not an address")
        expect(page.get_by_role("button", name="Order 2 rows")).to_be_visible()
        expect(page.get_by_text("1 row in error is left out.")).to_be_visible()
        if page.viewport_size["width"] < 640:
            problem, cell = faulty.locator(".grid-more"), faulty.locator(".grid-cell").first
            assert problem.bounding_box()["y"] < cell.bounding_box()["y"]
        look(visitor, "grid")
        _menu_closes(page)
        page.get_by_role("link", name="All rows 3").click()
        page.get_by_alt_text("Proof of row 2").click()
        zoom = page.get_by_role("dialog", name="Proof of row 2")
        expect(zoom.get_by_role("button", name="2 ×")).to_have_attribute("aria-pressed", "true")
        page.wait_for_function("() => document.querySelector('#zoom img').naturalWidth >= 672")
        look(visitor, "zoom")
        page.keyboard.press("Escape")
        page.get_by_role("link", name="With problems 1").click()

        faulty.get_by_role("link", name="Edit row 3").click()
        expect(page.get_by_label("Mail", exact=True)).to_have_attribute("aria-invalid", "true")
        look(visitor, "row")
        page.get_by_label("Mail", exact=True).fill("still nowhere")
        page.get_by_role("button", name="Save and check this row").click()
        expect(page.get_by_text("Row 3 is saved: Error.")).to_be_visible()
        # As while all renderers are busy: the row is saved, and checked by the worker a moment later.
        monkeypatch.setattr(checking, "_outcome_now", lambda *_: None)
        _correct_by_keyboard(page, look, visitor)
        page.get_by_role("button", name="Order 3 rows").click()
        expect(page.get_by_role("heading", name="Order 3 rows?")).to_be_visible()
        look(visitor, "question")
        page.get_by_role("button", name="Order for").click()
        expect(page.locator(".page-head .status")).to_have_text("Ordered")
        expect(page.get_by_role("link", name="Order 1")).to_have_count(3)
        look(visitor, "ordered")
        page.get_by_role("link", name="Order 1").first.click()
        expect(page.get_by_text("Ada Lovelace").first).to_be_visible()

    batch = in_database(Batch.objects.get)
    page.context.clear_cookies()
    visitor.enter(f"/admin/stores/batch/{batch.pk}/change/?state=Ordered&words=lovelace", "operator")
    expect(page.get_by_role("rowheader")).to_contain_text(["2 Ada Lovelace"])
    expect(page.get_by_role("link", name="Order 1")).to_be_visible()
    look(visitor, "console")
    assert in_database(lambda: {one.recipient["PostalCode"] for one in Order.objects.all()}) == {"02139"}
    assert in_database(Order.objects.count) == 3
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_staff_order_a_file_in_the_console(visitor):
    page, product = visitor.page, in_database(lambda: _product_with_budget(visitor.world.associated))
    open_console(visitor, f"/admin/stores/product/{product.pk}/change/")
    page.get_by_role("link", name="Order from a file").click()
    page.get_by_label("Name (optional)", exact=True).fill("Cards for the team")
    look(visitor, "console-new")
    page.get_by_role("button", name="Continue to the file").click()
    look(visitor, "console-upload")
    drop(page, ".artwork-drop", FILE)
    choose_columns(page)
    look(visitor, "console-mapping")
    expect(page.locator(".crumb")).to_have_count(0)
    expect(page.locator("h1").get_by_role("link", name="Cards for the team")).to_be_visible()
    with working(CHECK_TASK, ORDER_TASK):
        page.get_by_role("button", name="Check all rows").click()
        expect(page.locator("#row-3")).to_contain_text("Email is not an address")
        budgets = page.locator(".order-bar-budgets")
        expect(budgets).to_contain_text("Marketing 1,000.00 USD left, 976.00 USD after")
        look(visitor, "console-grid")
        _menu_closes(page)
        page.locator("#row-3 .grid-cell").nth(1).click()
        page.keyboard.type("alan@print.example")
        page.keyboard.press("Enter")
        expect(page.locator("#row-3")).to_contain_text("Ready")
        expect(budgets).to_contain_text("964.00 USD after")
        in_database(lambda: change_template(product.pk))
        page.get_by_role("button", name="Order 3 rows").click()
        expect(page.get_by_text("The template of the product changed since the check")).to_be_visible()
        look(visitor, "console-outdated")
        page.get_by_role("button", name="Check again").click()
        page.get_by_role("button", name="Order 3 rows").click()
        expect(page.get_by_text("1,000.00 USD left, 964.00 USD after")).to_be_visible()
        look(visitor, "console-question")
        page.get_by_role("button", name="Order for").click()
        expect(page.get_by_role("link", name="Ordered 3")).to_be_visible()
        look(visitor, "console-ordered")
    assert in_database(lambda: {one.batch_rows.get().name for one in Order.objects.all()}) == NAMES
    assert visitor.complaints == []


def _menu_closes(page):
    """Within the screen, by a click elsewhere and by Escape."""
    more, item = page.locator("#batch-more-label"), page.get_by_role("link", name="Rows as CSV")
    for close in (lambda: page.mouse.click(5, 5), lambda: page.keyboard.press("Escape")):
        more.click()
        expect(item).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        close()
        expect(item).to_be_hidden()
    expect(more).to_be_focused()


def _product_with_budget(store):
    make_budget(enable_budgets(store), Limit=1000)
    return make_card(store, "team-card")


def drop(page, place, file):
    """As a mouse drops a file of another window."""
    sent = [file.name, base64.b64encode(file.read_bytes()).decode()]
    page.locator(place).dispatch_event("drop", {"dataTransfer": page.evaluate_handle(DRAGGED, sent)})


def _correct_by_keyboard(page, look, visitor):
    """In the cells: Escape restores, typing replaces, Tab saves and moves on, arrows, Home and End move, a slash leads
    to the filter."""
    mail = page.locator("#row-3 .grid-cell").nth(1)
    mail.click()
    page.keyboard.type("typed by mistake")
    page.keyboard.press("Escape")
    expect(mail).to_have_text("still nowhere")
    page.keyboard.type("alan@print.example")
    look(visitor, "cell")
    page.keyboard.press("Tab")
    expect(page.locator("#row-3")).to_contain_text("Ready")
    expect(page.locator("#row-3 .grid-cell").nth(2)).to_be_focused()
    expect(page.get_by_role("link", name="With problems")).to_have_count(0)
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(mail).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("GRACE")
    page.keyboard.press("Enter")
    expect(page.get_by_role("rowheader")).to_have_count(1)
    expect(page.locator("#row-4")).to_contain_text("Grace Hopper")
