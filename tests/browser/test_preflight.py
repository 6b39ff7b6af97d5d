"""Findings of preflight as a person sees them: frames drawn over the very place, and what to do beside them."""

import time

import pytest
from playwright.sync_api import expect

from stores.orders.models import Order
from tests.factories.orders import make_product, order_body
from tests.factories.templates import field, page, text_box
from tests.support.browser.axe import violations
from tests.support.browser.console_forms import open_console
from tests.support.browser.visual_checks import box_of
from tests.support.patience import PATIENCE

pytestmark = pytest.mark.slow

# In 4 points, 1 mm from the left edge of the trim.
NEAR = text_box("Words", X=1, Y=20, Width=60, Height=8, Size=4)
FIELDS = [field("Words", DefaultValue="Ada Lovelace")]


@pytest.fixture
def product(site):
    made = {"TemplateFields": FIELDS, "Template": {"Pages": [page(NEAR)]}}
    make_product(site[1].demo, "near", **made)
    return make_product(site[1].associated, "near", **made)


def is_over(mark, picture, *, left, top):
    """The frame begins so many millimetres from the upper left corner of a picture that shows a card.

    Both move while the picture loads.
    """

    def places():
        framed, shown = box_of(mark), box_of(picture)
        scale = shown["width"] / 88.9
        return ((framed["x"] - shown["x"]) / scale, (framed["y"] - shown["y"]) / scale)

    wanted, deadline = pytest.approx((left, top), abs=0.8), time.monotonic() + PATIENCE
    while (found := places()) != wanted and time.monotonic() < deadline:
        picture.page.wait_for_timeout(50)
    return found == wanted


def test_form_frames_what_may_print_badly_until_it_is_mended(product, visitor):
    visitor.enter("/catalog/demo/near")
    shown = visitor.page
    listed = shown.locator(".preflight-list li")
    expect(listed).to_have_count(2)
    expect(listed.filter(has_text="4 pt; expected: 5 pt")).to_contain_text("Shorten the text")
    expect(listed.filter(has_text="1.0 mm from the trim; expected: 3 mm")).to_contain_text(
        "Move the text further inside"
    )
    marks = shown.locator(".proof-sheet .preflight-marks rect")
    expect(marks).to_have_count(1)
    expect(shown.locator(".proof-sheet .preflight-marks text")).to_have_text("1, 2")
    assert is_over(marks.first, shown.get_by_alt_text("Page 1 of the proof"), left=1, top=20)
    assert violations(shown) == []

    shown.get_by_label("Words").fill("")
    expect(listed).to_have_count(1)
    expect(listed).to_contain_text("Page 1 is blank")
    # Around the page.
    expect(marks).to_have_count(1)
    assert visitor.complaints == []


def test_editor_shows_findings_while_the_template_is_edited(product, visitor):
    edited = open_console(visitor, f"/admin/stores/product/{product.pk}/template/")
    found = edited.get_by_role("status", name="Preflight")
    expect(found).to_contain_text("Preflight: 2 findings on this page")
    expect(found).to_contain_text("4 pt; expected: 5 pt")
    marks = edited.locator(".ds-sheet .preflight-marks rect")
    expect(marks).to_have_count(1)
    sheet, mark = box_of(edited.locator(".ds-sheet")), box_of(marks.first)
    scale = sheet["width"] / 94.9
    assert (mark["x"] - sheet["x"]) / scale == pytest.approx(1 + 3, abs=0.8)

    found.get_by_role("button", name="Select the box").first.click()
    edited.locator(".ds-right [data-name='X']").fill("10")
    edited.locator(".ds-right [data-name='Size']").fill("8")
    edited.locator(".ds-right [data-name='Size']").press("Tab")
    expect(marks).to_have_count(0)
    expect(found).to_be_hidden()
    assert visitor.complaints == []


@pytest.fixture
def order(product, site) -> Order:
    line = {"ProductID": "near", "Quantity": 100, "TemplateData": {"Words": "Ada Lovelace"}}
    body = order_body(Items=[line])
    assert site[1].as_application().call("POST", "/store/associated/order", body).status_code == 201
    return Order.objects.latest("number")


def test_console_frames_findings_on_the_print_file_of_an_order(order, visitor):
    shown = open_console(visitor, f"/admin/stores/order/{order.pk}/change/", "user")
    shown.get_by_role("link", name="Preflight: 2 warnings").click()
    pages = shown.get_by_role("dialog")
    expect(pages.locator(".preflight-list li")).to_have_count(2)
    picture = pages.get_by_alt_text("Page 1 of the print file")
    picture.scroll_into_view_if_needed()
    picture.evaluate("one => one.decode()")
    frame, shape = box_of(pages.locator(".preflight-marks rect").first), box_of(picture)
    # Around the trim are bleed, and room for the crop marks.
    assert shape["x"] < frame["x"] < shape["x"] + shape["width"] / 3
    assert violations(shown) == []
    assert visitor.complaints == []
