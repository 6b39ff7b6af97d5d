"""A product made in a browser from nothing until it is sold, as a person does it."""

import pytest
from playwright.sync_api import expect

from tests.support.browser.actions import Actions
from tests.support.browser.console_forms import SIZES, begin_product, open_console, price_product
from tests.support.browser.visual_checks import shoot

pytestmark = pytest.mark.slow


def add_field(page, name: str, kind: str) -> str:
    """The prefix of the new row."""
    number = page.input_value("#id_template_fields-TOTAL_FORMS")
    page.get_by_role("button", name="Add a field").click()
    row = f"template_fields-{number}"
    page.fill(f"[name='{row}-field_name']", name)
    page.fill(f"[name='{row}-prompt']", f"Your {name.lower()}")
    page.select_option(f"[name='{row}-kind']", kind)
    return row


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_product_is_made_priced_and_published(visitor):
    page = visitor.page
    open_console(visitor, "/admin/stores/product/")
    actions = Actions(page, "Make a sellable product with two prices and a speed")
    begin_product(page)
    # No product of the store has a delivery method yet; the first column of prices is the usual one.
    page.fill("[name=delivery_method-new]", "GROUND")
    price_product(page)
    shoot(page, f"product-new-{page.viewport_size['width']}")
    page.get_by_role("button", name="Save and publish").click()

    expect(page.get_by_role("heading", name="In the catalog")).to_be_visible()
    actions.note()
    expect(page.locator("#prices-0-0")).to_have_value("7.50")
    expect(page.get_by_label("Price, GROUND, United States, Residential", exact=True)).to_have_value("8.00")
    expect(page.locator("[name=production_speeds-0-days]")).to_have_value("3")
    shoot(page, f"product-saved-{page.viewport_size['width']}")
    assert visitor.complaints == []


def test_first_delivery_method_with_prices_is_the_usual_one(product_page, visitor):
    page = visitor.page
    open_console(visitor, "/admin/stores/product/add/")
    usual, column = page.locator("#id_delivery_method"), page.locator("thead [data-part=code]").first
    expect(usual).to_have_value("")

    column.select_option(index=1)

    expect(usual).to_have_value(column.input_value())
    assert visitor.complaints == []


def test_field_with_choices_is_set_up_in_its_drawer(product_page, visitor):
    page = visitor.page
    open_console(visitor, product_page)
    row = add_field(page, "Paper", "Choice:List")
    drawer = page.locator(f"#drawer-{row}")
    expect(drawer).to_be_visible()
    shoot(page, "product-drawer")
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    page.get_by_role("button", name="Save", exact=True).click()

    page.get_by_role("link", name="a list needs at least one choice").click()
    expect(drawer).to_be_visible()
    expect(page.locator(f"[name='{row}-choices']")).to_be_focused()
    page.locator(f"[name='{row}-choices']").fill("Matt\nGloss")
    drawer.get_by_role("button", name="Done").click()
    page.locator("[data-row]").filter(has=page.locator(f"[name='{row}-field_name']")).get_by_label(
        "Move up"
    ).click()
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.get_by_text("is saved.")).to_be_visible()
    names = page.locator("[data-rows=template_fields] [name$='-field_name']")
    assert [one.input_value() for one in names.all()][-2:][0] == "Paper"
    assert visitor.complaints == []


def test_four_delivery_methods_fit_the_card_with_their_descriptions(product_page, visitor):
    page = visitor.page
    page.set_viewport_size({"width": 1280, "height": 900})
    open_console(visitor, product_page)
    columns = page.locator("thead [data-part=description]")
    while columns.count() < 4:
        page.get_by_role("button", name="Add a delivery method").click()
    columns.last.fill("Pickup at our Denver counter")

    fits = "part => part.scrollWidth <= part.clientWidth && part.scrollHeight <= part.clientHeight + 1"
    assert page.locator("#prices .console-scroll").evaluate(fits)
    assert columns.last.evaluate(fits)


def test_column_of_prices_is_added_pasted_and_removed(product_page, visitor):
    page = visitor.page
    open_console(visitor, product_page)
    page.get_by_role("button", name="Add a delivery method").click()
    page.locator("thead [data-part=code]").last.select_option("+")
    page.locator("thead [data-part=code-new]").last.fill("EXPRESS")
    rows = page.locator("[data-matrix] tbody tr").count()
    block = "\n".join(f"$ {10 + number}.5" for number in range(rows))
    page.locator("tbody tr").first.locator("[data-part=price]").last.evaluate(
        """(cell, text) => {
            const data = new DataTransfer();
            data.setData("text", text);
            cell.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        block if rows > 1 else f"{block}\n\t",
    )
    page.get_by_role("button", name="Save", exact=True).click()

    expect(page.locator("thead [data-part=code]").last).to_have_value("EXPRESS")
    expect(page.locator("tbody tr").first.locator("[data-part=price]").last).to_have_value("10.50")
    page.get_by_role("button", name="Remove this delivery method").last.click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("thead [data-part=code]").last).not_to_have_value("EXPRESS")
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_problems_are_listed_with_links_to_the_fields(product_page, visitor):
    page = visitor.page
    open_console(visitor, product_page)
    page.fill("[name=minimum_quantity]", "500")
    page.fill("[name=default_quantity]", "500")
    page.fill("[name=maximum_quantity]", "100")
    if page.viewport_size["width"] < 700:
        page.get_by_role("heading", name="Prices in").click()
    page.locator("#prices-0-0").fill("cheap")
    page.get_by_role("button", name="Save", exact=True).click()

    problems = page.locator("#form-problems")
    expect(problems).to_contain_text("Maximum quantity is below default quantity.")
    expect(page.locator("#prices-0-0")).to_have_attribute("aria-invalid", "true")
    shoot(page, f"product-wrong-{page.viewport_size['width']}")
    problems.get_by_role("link", name="Maximum quantity is below").click()
    expect(page.locator("#id_maximum_quantity")).to_be_focused()
    expect(page.locator("#prices-0-0")).to_have_value("cheap")
    assert visitor.complaints == []


def test_product_is_duplicated_and_the_copy_published(product_page, visitor):
    page = visitor.page
    open_console(visitor, product_page)
    actions = Actions(page, "Duplicate a product and publish the copy")
    page.get_by_role("button", name="Duplicate").click()

    expect(page.get_by_role("heading", name="Not published")).to_be_visible()
    expect(page.get_by_role("complementary", name="Publishing")).to_contain_text("card-two-sided-copy")
    page.get_by_role("button", name="Save and publish").click()

    expect(page.get_by_role("heading", name="In the catalog")).to_be_visible()
    actions.note()
    assert visitor.complaints == []
