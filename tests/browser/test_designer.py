"""The template designer as a person uses it: mouse, keys, canvas, and what is read back after saving."""

import itertools
import re
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from stores.catalog.models import Product
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.products import save_product
from tests.factories.templates import field, make_card, page, text_box
from tests.support.browser.browser_sessions import in_database
from tests.support.browser.console_forms import open_console, ready
from tests.support.browser.pseudo import FILLED, read_texts
from tests.support.browser.visual_checks import LOOKS, OTHER_LOOKS, box_of, faults_of
from tests.tools.catalogs import catalog_of

pytestmark = pytest.mark.slow

BOXES = (
    text_box("Name", X=10, Y=10, Width=30, Height=8),
    text_box("Title", X=14.3, Y=26, Width=30, Height=6),
)


@pytest.fixture
def product(site) -> Product:
    fields = [field("Name", Required=True), field("Title")]
    return make_card(
        site[1].associated, "designed", TemplateFields=fields, Template={"Pages": [page(*BOXES)]}
    )


@pytest.fixture
def designer(product, visitor) -> Page:
    return open_designer(product, visitor)


def open_designer(product: Product, visitor) -> Page:
    open_console(visitor, f"/admin/stores/product/{product.pk}/template/")
    ready(visitor.page)
    return visitor.page


def record_of(product: Product) -> dict[str, Any]:
    return in_database(stored_product, product.pk).record


def boxes_of(product: Product) -> list[Any]:
    return record_of(product)["Template"]["Pages"][0]["Boxes"]


def box(designer: Page, name: str):
    return designer.locator(".ds-boxes").get_by_role("button", name=re.compile(f"^{name}, "))


def expect_place(designer: Page, x: str, y: str) -> None:
    for name, value in (("X", x), ("Y", y)):
        expect(designer.locator(f".ds-right [data-name='{name}']")).to_have_value(value)


def drag(designer: Page, found, across: float, down: float, *, scale: float) -> None:
    """By millimetres, from the middle of what is dragged."""
    place = box_of(found)
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    designer.mouse.move(x, y)
    designer.mouse.down()
    designer.mouse.move(x + across * scale, y + down * scale, steps=5)
    designer.mouse.up()


def pixels_of_mm(designer: Page) -> float:
    return box(designer, "Name").evaluate("one => one.offsetWidth") / 30


def save(designer: Page, version: int) -> None:
    designer.get_by_role("button", name="Save", exact=True).click()
    expect(designer.locator(".ds-state")).to_have_text(f"Version {version}")


def test_first_picture_is_drawn_once_and_nothing_moves(designer):
    drawn = []
    designer.on(
        "requestfinished", lambda request: drawn.append(request.url) if "/preview/" in request.url else None
    )
    designer.add_init_script(
        "window.shift = 0; const add = one => { window.shift += one.value; };"
        "const watch = new PerformanceObserver(list => list.getEntries().forEach(add));"
        'watch.observe({type: "layout-shift", buffered: true});'
    )

    designer.reload(wait_until="networkidle")

    assert len(drawn) == 1
    assert designer.evaluate("window.shift") < 0.05


def test_box_is_added_dragged_duplicated_and_read_back(product, designer, visitor):
    scale = pixels_of_mm(designer)
    designer.get_by_role("button", name="Add a text box").click()
    designer.locator(".ds-right [data-name='Text']").fill("Est. 1998")
    expect(box(designer, "Est. 1998")).to_be_visible()

    # Within reach of the left edge of Name it meets that; without a line it comes to a whole millimetre.
    designer.locator(".ds-right [data-name='X']").fill("30")
    designer.locator(".ds-right [data-name='Y']").fill("37.4")
    drag(designer, box(designer, "Est. 1998"), -19.6, -2.2, scale=scale)
    expect_place(designer, "10", "35")

    designer.keyboard.press("ArrowRight")
    designer.keyboard.press("Shift+ArrowDown")
    expect_place(designer, "10.5", "40")
    designer.keyboard.press("Control+d")
    expect(box(designer, "Est. 1998")).to_have_count(2)
    designer.keyboard.press("Delete")
    designer.keyboard.press("Control+z")
    expect(box(designer, "Est. 1998")).to_have_count(2)

    save(designer, 2)
    found = [(one.get("Text"), one["X"], one["Y"]) for one in boxes_of(product)[2:]]
    assert found == [("Est. 1998", 10.5, 40), ("Est. 1998", 13.5, 43)]
    designer.reload()
    ready(designer)
    expect(box(designer, "Est. 1998")).to_have_count(2)
    assert visitor.complaints == []


def test_several_boxes_are_chosen_by_a_band_aligned_and_undone(product, designer, visitor):
    name, title = box_of(box(designer, "Name")), box_of(box(designer, "Title"))
    designer.mouse.move(name["x"] - 8, name["y"] - 12)
    designer.mouse.down()
    designer.mouse.move(title["x"] + 40, title["y"] + title["height"] + 4, steps=4)
    designer.mouse.up()
    expect(designer.locator(".ds-box.ds-selected")).to_have_count(2)

    designer.get_by_role("button", name="Align left").click()
    expect(box(designer, "Title")).to_have_attribute("aria-label", re.compile("10 mm from the left"))
    designer.get_by_role("button", name="Undo").click()
    expect(box(designer, "Title")).to_have_attribute("aria-label", re.compile("14.3 mm from the left"))
    designer.locator(".ds-viewport").focus()
    designer.keyboard.press("Control+Shift+Z")
    save(designer, 2)
    assert [one["X"] for one in boxes_of(product)] == [10, 10]

    designer.locator(".ds-viewport").focus()
    designer.keyboard.press("Escape")
    box(designer, "Name").click()
    box(designer, "Title").click(modifiers=["Shift"])
    expect(designer.locator(".ds-box.ds-selected")).to_have_count(2)
    assert visitor.complaints == []


def test_layers_are_reordered_named_locked_and_hidden(product, designer, visitor):
    layers = designer.locator(".ds-layers")
    expect(layers.locator(".ds-layer")).to_have_text([re.compile("Title"), re.compile("Name")])
    layers.locator("li").nth(1).drag_to(layers.locator("li").nth(0))
    expect(layers.locator(".ds-layer")).to_have_text([re.compile("Name"), re.compile("Title")])

    layers.locator(".ds-layer").nth(0).focus()
    designer.keyboard.press("F2")
    designer.keyboard.type("Full name")
    designer.keyboard.press("Enter")
    expect(box(designer, "Full name")).to_be_visible()
    designer.get_by_role("button", name="Lock Full name").click()
    box(designer, "Full name").focus()
    designer.keyboard.press("ArrowRight")
    designer.get_by_role("button", name="Hide Title").click()
    expect(box(designer, "Title")).to_be_hidden()
    expect(designer.get_by_text("1 hidden while you work, and printed all the same.")).to_be_visible()

    save(designer, 2)
    title, name = boxes_of(product)
    assert (title["Field"], name["Field"], name["Name"], name["Locked"], name["X"]) == (
        "Title",
        "Name",
        "Full name",
        True,
        10,
    )
    assert visitor.complaints == []


def test_font_inks_a_new_field_and_sample_data_show_at_once(product, designer, visitor):
    picture = designer.locator(".ds-picture")
    box(designer, "Name").click()
    designer.locator(".ds-fonts summary").click()
    expect(designer.get_by_role("img", name="Montserrat")).to_be_visible()
    before = picture.get_attribute("src")
    designer.get_by_role("radio", name="Montserrat").check()
    expect(picture).not_to_have_attribute("src", before)

    designer.get_by_label("Color: model").select_option("cmyk")
    for ink, percent in (("Cyan", "0"), ("Magenta", "20"), ("Yellow", "100"), ("Black", "5.5")):
        designer.get_by_label(f"Color: {ink} in percent").fill(percent)
    swatch = designer.get_by_label("Color: choose")
    expect(swatch).to_have_value(re.compile("^#[c-f][0-9a-f][9a-c].[0-3]."))

    # A spot color keeps the inks that show it.
    designer.get_by_label("Color: model").select_option("spot")
    name = designer.get_by_label("Color: name of the spot color")
    expect(name).to_have_value("CutContour")
    name.fill("Gold 1")
    expect(designer.get_by_label("Color: Magenta in percent")).to_have_value("20")
    expect(swatch).to_have_value(re.compile("^#[c-f][0-9a-f][9a-c].[0-3]."))
    designer.get_by_label("Color: Cyan in percent").fill("3")
    expect(name).to_have_value("Gold 1")

    # Four numbers are inks as well, typed as one.
    fill = designer.get_by_label("Fill: sRGB")
    fill.click()
    designer.keyboard.type("5 0 0 10")
    designer.keyboard.press("Enter")
    expect(designer.get_by_label("Fill: Black in percent")).to_have_value("10")

    designer.get_by_text("Add a field", exact=True).click()
    expect(designer.get_by_label("Name", exact=True).last).to_be_focused()
    designer.keyboard.type("Name")
    designer.keyboard.press("Enter")
    expect(designer.locator(".ds-new .console-error").first).to_contain_text("Name")
    designer.get_by_label("Name", exact=True).last.fill("Slogan")
    designer.get_by_role("button", name="Add the field and a box").click()
    expect(box(designer, "Slogan")).to_be_visible()
    before = picture.get_attribute("src")
    designer.locator("[data-name='sample:Slogan']").fill("We print")
    expect(picture).not_to_have_attribute("src", before)

    save(designer, 2)
    saved = boxes_of(product)
    assert saved[0]["Font"] == "Montserrat"
    assert saved[0]["Color"] == {"Spot": "Gold 1", "C": 3, "M": 20, "Y": 100, "K": 5.5}
    assert (saved[0]["Background"], saved[2]["Field"]) == ({"C": 5, "M": 0, "Y": 0, "K": 10}, "Slogan")
    assert [one["FieldName"] for one in record_of(product)["TemplateFields"]][-1] == "Slogan"
    # The field is the product's now: a further save does not add it again.
    designer.locator(".ds-right [data-name='X']").fill("3")
    save(designer, 3)
    assert visitor.complaints == []


def test_zoom_rulers_and_guides_follow_keys_and_wheel(designer, visitor):
    zoom, sheet = designer.locator(".ds-zoom"), designer.locator(".ds-sheet")
    fitted = zoom.inner_text()
    designer.locator(".ds-viewport").focus()
    designer.keyboard.press("0")
    expect(zoom).to_have_text("100%")
    # 94.9 mm with its bleed, at 96 dots an inch.
    assert round(sheet.evaluate("one => one.clientWidth")) == round(94.9 * 96 / 25.4)
    place = box_of(sheet)
    designer.mouse.move(place["x"] + 50, place["y"] + 50)
    designer.keyboard.down("Control")
    designer.mouse.wheel(0, -120)
    designer.keyboard.up("Control")
    expect(zoom).not_to_have_text("100%")
    designer.keyboard.press("1")
    expect(zoom).to_have_text(fitted)
    for name in ("Bleed 3 mm", "Trim 88.9 × 50.8 mm", "Safe area, 3 mm inside"):
        expect(designer.get_by_text(name)).to_be_visible()
    designer.get_by_role("button", name="Grid", exact=True).click()
    expect(designer.locator(".ds-grid-lines")).to_have_count(1)
    assert visitor.complaints == []


def test_save_between_is_refused_with_a_choice_and_a_version_restored(product, designer, visitor):
    box(designer, "Name").click()
    designer.keyboard.press("Shift+ArrowRight")
    record = record_of(product)
    others = {"Pages": [page({**BOXES[0], "X": 3}, BOXES[1])]}
    in_database(save_product, store=product.store, product=product, values={**record, "Template": others})

    designer.get_by_role("button", name="Save", exact=True).click()
    asks = designer.get_by_role("dialog")
    expect(asks).to_contain_text("Another user saved version 2 of this product; you began with version 1.")
    asks.get_by_role("button", name="Keep working").click()
    expect_place(designer, "15", "10")
    assert boxes_of(product)[0]["X"] == 3
    designer.get_by_role("button", name="Save", exact=True).click()
    asks.get_by_role("button", name="Save mine over version 2").click()
    expect(designer.locator(".ds-state")).to_have_text("Version 3")
    assert boxes_of(product)[0]["X"] == 15

    designer.get_by_role("link", name="Versions").click()
    expect(designer.get_by_role("img", name="Page 1 of version 2")).to_be_visible()
    expect(designer.get_by_role("img", name="Page 1 of version 3")).to_be_visible()
    expect(designer.get_by_role("row", name=re.compile("moved"))).to_contain_text("15, 10 mm")
    designer.get_by_role("button", name="Restore version 2").click()
    expect(designer.get_by_text("Version 2 is restored, as version 4.")).to_be_visible()
    assert boxes_of(product)[0]["X"] == 3
    assert visitor.complaints == []


def test_pictures_pages_and_problems(product, designer, visitor):
    photo = BytesIO()
    Image.new("RGB", (300, 300), "#225588").save(photo, "PNG")
    upload = {"name": "square.png", "mimeType": "image/png", "buffer": photo.getvalue()}
    designer.get_by_label("Use it as").select_option("background")
    designer.locator(".ds-right input[type=file]").set_input_files(upload)
    expect(designer.get_by_role("alert")).to_contain_text("which is another shape")
    designer.get_by_role("button", name="Crop to the page").click()
    expect(designer.locator(".ds-right [data-name='Background']")).to_have_value("square-cropped.png")

    box(designer, "Name").click()
    designer.locator(".ds-right [data-name='Size']").fill("huge")
    expect(designer.locator(".ds-right")).to_contain_text("Size must be a number from 3 to 1000.")
    designer.get_by_role("button", name="Add a page").click()
    expect(designer.get_by_role("button", name="Page 2")).to_have_attribute("aria-current", "page")
    designer.get_by_role("button", name=re.compile("Page 1, box Name: size")).click()
    expect(designer.locator(".ds-right [data-name='Size']")).to_be_focused()
    designer.locator(".ds-right [data-name='Size']").fill("12")
    save(designer, 2)
    found = record_of(product)
    assert (found["PageCount"], list(found["Template"]["Artwork"])) == (2, ["square-cropped.png"])
    assert visitor.complaints == []


@pytest.fixture
def pictured(site) -> Product:
    """With a picture box beside the text boxes."""
    boxes = [*BOXES, {"Kind": "Image", "Field": "Logo", "X": 50, "Y": 10, "Width": 20, "Height": 20}]
    fields = [field("Name", Required=True), field("Title"), field("Logo", Type="Image", SubType="Gallery")]
    template = {"Pages": [page(*boxes)]}
    return make_card(site[1].associated, "pictured", TemplateFields=fields, Template=template)


def test_upload_goes_into_the_selected_box_and_other_shapes_say_why(pictured, visitor):
    designer = open_designer(pictured, visitor)
    photo = BytesIO()
    Image.new("RGB", (300, 300), "#225588").save(photo, "PNG")
    chooser = designer.locator(".ds-right input[type=file]")
    taken = designer.locator(".ds-taken")
    chooser.set_input_files({"name": "square.png", "mimeType": "image/png", "buffer": photo.getvalue()})
    expect(taken).to_contain_text("square.png is 300 by 300; the page with its bleed is")
    expect(taken).to_contain_text("which is another shape. It is in the gallery as square.")
    expect(taken.get_by_role("presentation")).to_have_js_property("naturalWidth", 300)

    box(designer, "Logo").click()
    expect(designer.get_by_text("Goes into the box Logo.")).to_be_visible()
    with designer.expect_file_chooser() as opened:
        designer.get_by_role("button", name="Upload a picture …").click()
    opened.value.set_files({"name": "round.png", "mimeType": "image/png", "buffer": photo.getvalue()})
    expect(taken).to_contain_text("round.png is in the box Logo.")
    expect(designer.locator("[data-name='sample:Logo']")).to_have_value("round")
    assert visitor.complaints == []


def test_names_of_boxes_cover_neither_boxes_nor_each_other(pictured, visitor):
    designer = open_designer(pictured, visitor)
    sheet = box_of(designer.locator(".ds-sheet"))
    names = [box_of(one) for one in designer.locator(".ds-name").all()]
    assert len(names) == 3
    assert all(one["x"] > sheet["x"] + sheet["width"] for one in names)
    tops = sorted(one["y"] for one in names)
    assert all(below - above >= 14 for above, below in itertools.pairwise(tops))
    canvas = box_of(designer.locator(".ds-viewport"))
    assert max(one["x"] + one["width"] for one in names) <= canvas["x"] + canvas["width"]
    box(designer, "Name").click()
    # With its padding for the arrow and the longest of its words.
    needed = """(one) => { const pen = document.createElement("canvas").getContext("2d");
        const style = getComputedStyle(one); pen.font = style.font;
        const words = Math.max(...[...one.options].map((option) => pen.measureText(option.text).width));
        return words + parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) - one.clientWidth }"""
    assert [one.evaluate(needed) <= 0 for one in designer.locator(".ds-model").all()] == [True, True]
    designer.keyboard.press("Escape")
    assert designer.get_by_label("Use it as").evaluate(needed) <= 0


def test_german_designer_shows_no_english_text(product, visitor):
    visitor.page.set_extra_http_headers({"Accept-Language": "de-DE,de;q=0.9"})
    designer = open_designer(product, visitor)
    shown = read_texts(designer.inner_html(".ds"))
    box(designer, "Name").click()
    shown |= read_texts(designer.inner_html(".ds"))

    assert {"Rückgängig (Strg + Z)", "Seite 1", "Ebenen", "Title ausblenden", "Kasten", "zentriert"} <= shown
    english = [message.id for message in catalog_of("de", "djangojs") if message.string != message.id]
    forms = [
        FILLED.split(form)
        for text in english
        for form in (text if isinstance(text, tuple) else (text,))
        if form
    ]
    pattern = "|".join(".+".join(map(re.escape, parts)) for parts in forms)
    assert {text for text in shown if re.fullmatch(pattern, text)} == set()
    assert visitor.complaints == []


def test_designer_has_no_fault_in_any_look(product, designer, visitor):
    def opened() -> int:
        status = visitor.go(f"/admin/stores/product/{product.pk}/template/")
        ready(designer)
        designer.locator(".ds-box").first.focus()
        designer.keyboard.press(" ")
        return status

    assert faults_of(visitor, "designer", opened, looks=[*LOOKS, *OTHER_LOOKS]) == []
