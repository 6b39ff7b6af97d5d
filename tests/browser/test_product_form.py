"""A product's form as a person uses it: proofs that follow the form, a cropped picture, prices, a demo order."""

import re
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.conftest import BROWSER_PATIENCE, Visitor
from tests.factories.orders import make_card, make_design

pytestmark = pytest.mark.slow


@pytest.fixture
def site(site):
    make_card(site[1].demo, "business-card")
    make_design(site[1].demo, "photo-postcard-6x9")
    return site


def wide_picture() -> bytes:
    """Red on the left, blue on the right: which part was taken is seen."""
    out = BytesIO()
    picture = Image.new("RGB", (1200, 300), "#0000ff")
    picture.paste((255, 0, 0), (0, 0, 600, 300))
    picture.save(out, "PNG")
    return out.getvalue()


def test_proof_follows_the_form_up_to_a_demo_order(visitor):
    page = visitor.page
    visitor.enter("/catalog")
    page.get_by_role("link", name="Demo Print").click()
    page.get_by_role("link", name="Product business-card").click()
    expect(page.get_by_alt_text("Page 2 of the proof")).to_be_visible()
    first = page.get_by_alt_text("Page 1 of the proof").get_attribute("src")

    page.get_by_label("Name on the card").fill("Grace Hopper")
    expect(page.get_by_alt_text("Page 1 of the proof")).not_to_have_attribute("src", first)
    expect(page.locator("#code-proof-curl")).to_contain_text("Grace Hopper")
    page.get_by_label("E-mail").fill("nobody")
    expect(page.get_by_text("E-mail is not an address such as dana@example.com.")).to_be_visible()
    expect(page.get_by_alt_text("Page 1 of the proof")).to_be_visible()
    page.get_by_label("E-mail").fill("grace@navy.example")
    expect(page.get_by_text("E-mail is not an address such as dana@example.com.")).to_have_count(0)

    page.get_by_label("Quantity").fill("200")
    page.get_by_role("button", name="Get prices").click()
    expect(page.get_by_text("24.00 USD").first).to_be_visible()
    page.get_by_role("button", name="Place a demo order").click()
    expect(page.get_by_role("heading", name="Order 1")).to_be_visible()
    expect(page.get_by_alt_text("Proof of Product business-card")).to_be_visible()
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", [(390, "light")], indirect=True)
def test_press_for_a_refused_proof_leads_to_the_mistake(visitor):
    page = visitor.page
    visitor.enter("/catalog/demo/business-card")
    expect(page.get_by_alt_text("Page 2 of the proof")).to_be_visible()
    page.get_by_label("E-mail").fill("nobody")
    page.get_by_label("Line under the logo").focus()
    page.get_by_role("button", name="Make the proof").click()

    expect(page.get_by_label("E-mail")).to_be_focused()
    expect(page.get_by_text("E-mail is not an address such as dana@example.com.")).to_be_in_viewport()
    assert visitor.complaints == []


def test_letters_are_drawn_as_they_are_typed_and_stored_when_they_pause(visitor):
    page, stored = visitor.page, []
    visitor.enter("/catalog/demo/business-card")
    first = page.get_by_alt_text("Page 1 of the proof")
    expect(first).to_have_attribute("src", re.compile("^/proofs/"))
    page.on("request", lambda one: stored.append(one) if 'name="do"' in (one.post_data or "") else None)

    page.get_by_label("Name on the card").press_sequentially("Augusta Ada", delay=40)
    expect(first).to_have_attribute("src", re.compile("^data:image/png"))
    expect(first).to_have_attribute("src", re.compile("^/proofs/"))

    assert 1 <= len(stored) <= 3
    assert visitor.complaints == []


def test_picture_is_cropped_to_its_place_before_it_is_sent(visitor):
    page = visitor.page
    visitor.enter("/catalog/demo/photo-postcard-6x9")
    page.locator("#field-0").set_input_files(
        {"name": "wide.png", "mimeType": "image/png", "buffer": wide_picture()}
    )
    canvas = page.locator(".crop-canvas").first
    expect(canvas).to_be_visible()
    canvas.focus()
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Use this part").first.click()

    expect(page.locator(".crop-said").first).to_contain_text("Uploaded, ")
    expect(page.get_by_alt_text("Page 1 of the proof")).to_be_visible()
    shot = Image.open(BytesIO(page.get_by_alt_text("Page 1 of the proof").screenshot())).convert("RGB")
    red, _, blue = shot.getpixel((shot.width // 6, shot.height // 4))
    # Moved to the right end, all of it is of the blue half.
    assert blue > red
    assert visitor.complaints == []


def test_without_script_the_form_makes_proofs_and_takes_pictures(site, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site[0]}/catalog/demo/photo-postcard-6x9")
    page.fill("#id_username", "user")
    page.fill("#id_password", "a long pass phrase")
    page.click("main button[type=submit]")
    page.locator("#field-0").set_input_files(
        {"name": "wide.png", "mimeType": "image/png", "buffer": wide_picture()}
    )
    page.get_by_role("button", name="Make the proof").click()

    expect(page.get_by_alt_text("Page 1 of the proof")).to_be_visible()
    context.close()


# Pixels of the picture for each pixel of its place in CSS.
DENSITY = """async (picture) => {
    const loaded = new Image();
    loaded.src = picture.currentSrc;
    await loaded.decode();
    return loaded.naturalWidth / picture.getBoundingClientRect().width;
}"""


# Pictures that are refused while the service is busy are loaded again.
LOADED = """async (picture) => {
    while (!picture.complete || !picture.naturalWidth) await new Promise((over) => setTimeout(over, 50));
}"""


def test_pages_are_sharp_on_a_dense_screen_and_zoom_from_print_size(site, chromium, tmp_path):
    context = chromium.new_context(viewport={"width": 1280, "height": 844}, device_scale_factor=2)
    context.set_default_timeout(BROWSER_PATIENCE)
    visitor = Visitor(context.new_page(), *site)
    page = visitor.page
    page.on("console", lambda said: visitor.complaints.append(said.text) if said.type == "error" else None)
    visitor.enter("/catalog/demo/business-card")
    shown = page.get_by_alt_text("Page 1 of the proof")
    page.wait_for_function(
        "() => document.querySelector('#part-proof img')?.currentSrc.includes('?width=')", timeout=60_000
    )
    assert shown.evaluate(DENSITY) >= 2

    shown.click()
    zoom = page.get_by_role("dialog", name="Page 1 of the proof")
    picture = zoom.get_by_alt_text("Page 1 of the proof")
    for name, factor in (("Print size", 1), ("4 ×", 4)):
        zoom.get_by_role("button", name=name).click()
        expect(zoom.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
        zoom.locator("img").evaluate(LOADED)
        assert picture.evaluate(DENSITY) >= 2
        width = picture.evaluate("picture => picture.getBoundingClientRect().width")
        assert width == pytest.approx(88.9 / 25.4 * 96 * factor, abs=0.5)
        page.screenshot(path=tmp_path / f"zoom-{factor}.png")
    page.keyboard.press("Escape")
    expect(zoom).to_be_hidden()
    assert visitor.complaints == []
    context.close()
