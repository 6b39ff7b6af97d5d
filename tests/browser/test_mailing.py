"""The page where routes of a mailing are chosen: by mouse on the map, and by keyboard without it."""

import re
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from delivery.datasets.services.demo import load_demo_population
from tests.factories.orders import make_product
from tests.support.browser.visual_checks import LOOKS, SERIOUS, faults_of, shoot

pytestmark = pytest.mark.slow

DRAWN = re.compile(r'^\{"type":"Polygon","coordinates":\[\[\[-111\.')
# A folder for pictures of the page, to look at.


@pytest.fixture
def site(site):
    make_product(site[1].demo, "mailer", IsEddm=True, MinimumQty=200, DefaultQty=200, MaximumQty=25_000)
    load_demo_population()
    return site


def pieces(page: Page) -> int:
    return int(page.locator("[data-total=pieces]").inner_text().replace(",", ""))


def drawn(page: Page) -> int:
    expect(page.locator("#map")).to_have_attribute("data-drawn", re.compile(r"^[0-9]{2,}$"))
    return int(page.locator("#map").get_attribute("data-drawn"))


def middle_of_map(page: Page) -> tuple[float, float]:
    page.locator("#map").scroll_into_view_if_needed()
    box = page.locator("#map").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_routes_are_chosen_on_the_map_with_the_mouse(visitor):
    page = visitor.page
    visitor.enter("/mailings")
    page.get_by_label("Postal codes").fill("84111")
    expect(page.locator("[data-total=routes]")).to_be_visible()
    assert drawn(page) > 20
    of_code = pieces(page)

    middle = middle_of_map(page)
    first = page.locator("input[name=route]").first
    expect(first).to_be_checked()
    page.mouse.click(*middle)
    expect(page.locator("input[name=route]:not(:checked)")).to_have_count(1)
    assert pieces(page) < of_code
    expect(page.locator("#code-selection-curl")).to_contain_text("84111")

    page.locator("input[name=route]:not(:checked)").check()
    assert pieces(page) == of_code
    page.get_by_label("Postal codes").fill("")
    page.get_by_role("button", name="Draw an area").click()
    middle = middle_of_map(page)
    corners = [(-150, -110), (150, -110), (150, 110), (-150, 110), (-150, -110)]
    for x, y in corners:
        page.mouse.click(middle[0] + x, middle[1] + y)
    expect(page.locator("#polygon")).to_have_value(DRAWN)
    expect(page.locator("[data-total=routes]")).to_be_visible()
    in_area = pieces(page)
    assert in_area > 0

    page.get_by_role("button", name="Draw a circle").click()
    middle = middle_of_map(page)
    page.mouse.click(*middle)
    page.mouse.click(middle[0] + 90, middle[1])
    expect(page.locator("#radius")).not_to_have_value("")
    expect(page.locator("#polygon")).to_have_value("")
    expect(page.locator("[data-total=pieces]")).not_to_have_text(f"{in_area:,}")
    assert pieces(page) > 0
    expect(page.locator("#code-selection-python")).to_contain_text("RadiusMiles")
    shoot(page, "circle")

    page.get_by_role("button", name="Save the selection").click()
    expect(page.get_by_role("heading", name="pieces on")).to_be_visible()
    with page.expect_download() as started:
        page.get_by_role("link", name="Download as CSV").click()
    lines = Path(started.value.path()).read_text().splitlines()
    assert lines[0].startswith("# SYNTHETIC")
    assert lines[1].startswith("ZIP_CODE,CRID_ID,RES_CNT")
    expect(page.locator("#map")).to_have_attribute("data-drawn", str(len(lines) - 2))

    page.get_by_role("link", name="Quote and order Product mailer, Demo Print").click()
    expect(page.get_by_label("Mailing")).to_contain_text("pieces on")
    expect(page.get_by_label("Quantity")).to_be_hidden()
    page.get_by_role("button", name="Get prices").click()
    expect(page.get_by_role("region", name="Prices")).to_be_visible()
    page.get_by_role("button", name="Place a demo order").click()
    expect(page.get_by_text("is placed.")).to_be_visible()
    assert visitor.complaints == []


def test_all_of_it_is_done_by_keyboard_in_the_list(visitor):
    page = visitor.page
    visitor.enter("/mailings")
    page.get_by_label("Center", exact=True).focus()
    page.keyboard.type("84101")
    page.keyboard.press("Tab")
    page.keyboard.type("2")
    page.keyboard.press("Enter")
    expect(page.locator("[data-total=routes]")).to_be_visible()
    before = pieces(page)
    first = page.locator("input[name=route]").first
    first.focus()
    page.keyboard.press("Space")
    expect(first).not_to_be_checked()
    assert pieces(page) < before
    page.get_by_text("Product and budget").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Product", exact=True).select_option(index=1)
    expect(page.locator("[data-total=cost]")).to_be_visible()
    page.get_by_label("Budget").fill("100")
    expect(page.locator("[data-total=cost]")).to_have_text(re.compile(r"^[1-9]?[0-9]\.[0-9]{2}$"))
    page.get_by_label("Postal codes").fill("nonsense")
    expect(page.get_by_text("This must be a postal code of five digits.")).to_be_visible()
    page.get_by_label("Postal codes").fill("")
    expect(page.get_by_text("This must be a postal code of five digits.")).to_have_count(0)
    page.get_by_role("button", name="Save the selection").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="pieces on")).to_be_visible()
    page.get_by_role("link", name="Quote and order").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Place a demo order").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("is placed.")).to_be_visible()
    assert visitor.complaints == []


def test_page_looks_right_and_has_no_faults(visitor):
    page = visitor.page
    visitor.enter("/mailings")
    page.get_by_label("Postal codes").fill("84101 84102 84111")
    expect(page.locator("[data-total=routes]")).to_be_visible()
    drawn(page)

    assert faults_of(visitor, "mailing", looks=LOOKS) == []


def test_map_begins_where_a_person_knows_the_places(visitor):
    page, sizes = visitor.page, []
    visitor.enter("/mailings")
    page.wait_for_url(f"{visitor.address}/mailings")
    page.on("requestfinished", lambda request: sizes.append(request.response().body()))
    page.reload()
    drawn(page)
    shown = page.locator("#map")
    expect(shown).to_have_attribute("data-named", re.compile("Salt Lake City.*Holladay"))
    expect(page.locator(".leaflet-control-scale-line")).to_have_text([re.compile(" km$"), re.compile(" mi$")])
    expect(page.get_by_role("link", name="GeoNames")).to_be_visible()
    for _ in range(3):
        before = shown.get_attribute("data-named")
        page.get_by_role("button", name="Zoom out").click()
        expect(shown).not_to_have_attribute("data-named", before)
    expect(shown).to_have_attribute("data-named", re.compile("Provo.*Summit County"))
    for _ in range(3):
        before = shown.get_attribute("data-named")
        page.get_by_role("button", name="Zoom out").click()
        expect(shown).not_to_have_attribute("data-named", before)
    expect(shown).to_have_attribute("data-named", re.compile("Utah.*Denver"))
    # Their deflated bodies, as a server compresses what it serves.
    assert len(sizes) > 10
    assert sum(len(zlib.compress(body)) for body in sizes) < 600_000
    assert visitor.complaints == []


def test_without_script_the_form_does_it_all(visitor):
    context = visitor.page.context.browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(visitor.address + "/mailings")
        page.fill("#id_username", "user")
        page.fill("#id_password", "a long pass phrase")
        page.click("main button[type=submit]")
        page.get_by_label("Postal codes").fill("84101")
        page.get_by_role("button", name="Show routes").click()
        page.locator("input[name=route]").first.uncheck()
        page.get_by_role("button", name="Save the selection").click()
        expect(page.get_by_role("heading", name="pieces on")).to_be_visible()
    finally:
        context.close()


@pytest.fixture
def leaflet(site):
    return make_product(
        site[1].associated, "leaflet", IsEddm=True, MinimumQty=1, DefaultQty=200, MaximumQty=250_000
    )


def test_staff_draw_an_area_in_the_console_and_order_it(leaflet, visitor):
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.enter(f"/admin/stores/product/{leaflet.pk}/change/")
    page.get_by_role("link", name="Choose routes on the map").click()
    page.get_by_label("Postal codes").fill("84111")
    expect(page.locator("[data-total=routes]")).to_be_visible()
    assert drawn(page) > 20
    page.get_by_label("Postal codes").fill("")
    page.get_by_role("button", name="Draw an area").click()
    middle = middle_of_map(page)
    for x, y in [(-150, -110), (150, -110), (150, 110), (-150, 110), (-150, -110)]:
        page.mouse.click(middle[0] + x, middle[1] + y)
    expect(page.locator("#polygon")).to_have_value(DRAWN)
    expect(page.locator("[data-total=cost]")).to_be_visible()
    page.get_by_text("Copy as code").click()
    expect(page.locator("#code-curl")).to_contain_text("Polygon")
    page.get_by_role("button", name="Copy curl").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert "Polygon" in page.evaluate("navigator.clipboard.readText()")
    first = page.locator("input[name=route]").first
    first.focus()
    page.keyboard.press("Space")
    expect(first).not_to_be_checked()
    chosen = pieces(page)
    assert faults_of(visitor, "mailing in the console", looks=LOOKS, impacts=SERIOUS) == []
    shoot(page, "console-mailing")

    page.get_by_role("button", name="Save the selection").click()
    expect(page.get_by_role("heading", name=f"{chosen:,} pieces on")).to_be_visible()
    expect(page.locator("#map")).to_have_attribute("data-drawn", re.compile("^[0-9]+$"))
    page.get_by_role("button", name="Get all prices").click()
    expect(page.get_by_role("radio").first).to_be_checked()
    page.get_by_role("button", name="Place the order").click()
    expect(page.locator("#to-Name")).to_have_attribute("aria-invalid", "true")
    for label, words in (
        ("Name", "Ada Lovelace"),
        ("Address", "1 Main Street"),
        ("City", "Denver"),
        ("Postal code", "80202"),
    ):
        page.get_by_label(label, exact=True).fill(words)
    assert faults_of(visitor, "order of a mailing in the console", looks=LOOKS, impacts=SERIOUS) == []
    shoot(page, "console-mailing-order")
    page.get_by_role("button", name="Place the order").click()
    expect(page.locator(".order-title")).to_contain_text("Received")
    expect(page.get_by_role("link", name="EDDM papers of")).to_be_visible()
    assert visitor.complaints == []
