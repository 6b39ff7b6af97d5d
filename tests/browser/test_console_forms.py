"""Console forms as a person fills them: rows are added by their button, saved, and read back."""

import re
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import expect

from accounts.models import Role
from fulfillment.core.admin import inlines
from tests.support.browser.axe import violations
from tests.support.browser.browser_sessions import in_database
from tests.support.browser.console_forms import SIZES, choose, open_console
from tests.support.browser.page_fixtures import furnish
from tests.support.browser.visual_checks import shoot

pytestmark = pytest.mark.slow

SIZE = "one => [one.clientWidth, one.clientHeight]"


@pytest.fixture
def furnished(site) -> None:
    furnish(site[1])


def add_row(page, prefix: str) -> str:
    """The prefix of the new row."""
    number = int(page.input_value(f"#id_{prefix}-TOTAL_FORMS"))
    page.locator(f"#{prefix}-group .add-row a, #{prefix}-group a.add-row").first.click()
    expect(page.locator(f"#id_{prefix}-TOTAL_FORMS")).to_have_value(str(number + 1))
    return f"{prefix}-{number}"


def fill_row(page, row: str, **values: str) -> None:
    for name, value in values.items():
        field = page.locator(f"[name='{row}-{name}']")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def test_user_gets_a_role(visitor, site):
    page, user = visitor.page, site[1].outsider
    open_console(visitor, f"/admin/accounts/user/{user.pk}/change/")
    row = add_row(page, "roles")
    fill_row(page, row, grant="Store.Self.Read")
    choose(page, f"id_{row}-store", "associated")
    page.locator("[name=_save]").click()

    expect(page.locator("#roles-group")).to_contain_text("Store.Self.Read")
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", [(390, "light")], indirect=True)
def test_cells_of_a_row_keep_their_names_whole_on_a_phone(visitor, site):
    page, user = visitor.page, site[1].outsider
    open_console(visitor, f"/admin/accounts/user/{user.pk}/change/")
    row = add_row(page, "roles")

    cell = page.locator("td", has=page.locator(f"[name='{row}-grant']"))
    heights = cell.evaluate(
        "(td) => ['height', 'lineHeight'].map((name) => parseFloat(getComputedStyle(td, '::before')[name]))"
    )
    assert heights[0] < 1.5 * heights[1]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert visitor.complaints == []


def test_optional_fields_say_so_and_the_others_are_asked_for(visitor):
    page = visitor.page
    open_console(visitor, "/admin/accounts/user/add/")

    expect(page.get_by_text("(optional)")).to_have_count(3)
    for label in ("First name (optional)", "Last name (optional)", "Phone (optional)"):
        expect(page.get_by_label(label, exact=True)).to_be_editable()
    page.locator("[name=_save]").click()

    for name in ("username", "email", "password1", "password2"):
        expect(page.locator(f"[name={name}]")).to_have_attribute("aria-invalid", "true")
    assert violations(page) == []


def test_application_gets_an_owner(visitor, site):
    page = visitor.page
    open_console(visitor, f"/admin/applications/application/{site[1].application.pk}/change/")
    row = add_row(page, "roles")
    fill_row(page, row, grant="Application.Self.Read")
    choose(page, f"id_{row}-user", site[1].outsider.username)
    page.locator("[name=_save]").click()

    expect(page.locator("#roles-group")).to_contain_text(site[1].outsider.username)
    assert visitor.complaints == []


@pytest.mark.parametrize(
    ("press", "name"),
    [("Crop to the page", "photo-cropped.png"), ("Fit with white margins", "photo-fitted.png")],
)
def test_background_of_another_shape_is_made_to_fit_in_the_editor(product_page, visitor, press, name):
    page, out = visitor.page, BytesIO()
    Image.new("RGB", (1200, 1200), "#225588").save(out, "PNG")
    open_console(visitor, product_page.replace("change", "template"))
    page.wait_for_selector(".ds[data-ready]")
    picture, panel = page.locator(".ds-picture"), page.locator(".ds-right")
    expect(picture).to_have_attribute("src", re.compile("."))
    page.get_by_label("Use it as").select_option("background")
    # A canvas that grows while the page is laid out gets a sharper picture.
    page.wait_for_load_state("networkidle")
    before, size = picture.get_attribute("src"), picture.evaluate(SIZE)

    photo = {"name": "photo.png", "mimeType": "image/png", "buffer": out.getvalue()}
    panel.locator("input[type=file]").set_input_files(photo)

    expect(panel.get_by_role("alert")).to_contain_text("which is another shape")
    assert picture.get_attribute("src") == before
    assert picture.evaluate(SIZE) == size
    shoot(page, "editor-pending")
    page.get_by_role("button", name=press).click()
    expect(panel.locator("[data-name='Background']")).to_have_value(name)
    expect(panel.get_by_role("alert")).to_have_count(0)
    expect(picture).not_to_have_attribute("src", before)
    # Findings of preflight below the canvas take some of its room, for the contrast of texts on the photograph.
    width, height = picture.evaluate(SIZE)
    assert width / height == pytest.approx(size[0] / size[1], rel=0.01)
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(panel.locator("[data-name='Background']")).not_to_have_value(name)
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_days_of_the_calls_chart_are_below_their_bars(furnished, visitor):
    page = visitor.page
    open_console(visitor, "/admin/")
    shoot(page, f"start-{page.viewport_size['width']}")

    chart = page.locator("section", has=page.locator("#board-calls"))
    bars, days = chart.locator(".bars g"), chart.locator(".bars-days li")
    assert bars.count() == days.count() == 30
    labelled = [number for number in range(30) if days.nth(number).locator("span:visible").count()]
    assert len(labelled) >= 3
    for number in labelled:
        bar = bars.nth(number).locator("rect").first.bounding_box()
        label = days.nth(number).locator("span").bounding_box()
        assert label["x"] <= bar["x"] + bar["width"] / 2 <= label["x"] + label["width"]
        assert label["height"] >= 12
    assert days.last.inner_text() == "Today"
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.slow
def test_one_of_many_records_is_found_by_typing(visitor, site, monkeypatch):
    page, user = visitor.page, site[1].outsider
    monkeypatch.setattr(inlines, "MAX_SUGGESTIONS", 1)
    open_console(visitor, "/admin/accounts/role/add/")
    field = page.get_by_role("combobox", name="User (optional)", exact=True)
    options = page.get_by_role("listbox", name="User").get_by_role("option")
    field.fill("nobody-of-this-name")
    expect(page.get_by_text("Nothing found")).to_be_visible()
    page.keyboard.press("Escape")
    expect(field).to_have_value("")

    field.fill(user.username[:4])
    expect(options).to_have_count(1)
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(field).to_have_value(re.compile(user.username))
    field.fill("e")
    expect(options.nth(1)).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(field).to_have_value(re.compile(user.username))
    choose(page, "id_store", "associated")
    page.select_option("[name=grant]", label="Read every order of a store (Order.All.Read)")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("was added successfully")).to_be_visible()
    visitor.go("/admin/accounts/role/")
    expect(page.get_by_role("row", name="Read every order of a store (Order.All.Read)").first).to_be_visible()
    assert in_database(lambda: Role.objects.filter(user=user, store__external_id="associated").exists())
    assert visitor.complaints == []
