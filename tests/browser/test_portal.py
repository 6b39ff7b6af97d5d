import re
from io import BytesIO
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.support.browser.page_fixtures import picture

pytestmark = pytest.mark.slow

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


# The color of its dashes.
GUIDE = (0xFF, 0x2F, 0x6D)

SLOW_PICTURES = """() => {
    const read = window.createImageBitmap;
    window.createImageBitmap = (file) => new Promise((done) => { setTimeout(done, 300); }).then(() => read(file));
}"""


def test_picture_of_any_size_is_cropped_and_scaled_to_an_icon(visitor):
    page = visitor.page
    visitor.enter(f"/applications/{visitor.world.application.pk}/icon")
    out = BytesIO()
    wide = Image.new("RGB", (900, 300), "#0000ff")
    wide.paste((255, 0, 0), (0, 0, 300, 300))
    wide.save(out, "PNG")

    page.set_input_files("#id_icon", {"name": "wide.png", "mimeType": "image/png", "buffer": out.getvalue()})
    canvas = page.locator("[data-icon-tools] canvas")
    # Until the picture is read nothing there takes the keys.
    expect(canvas).to_be_visible()
    canvas.focus()
    for _ in range(80):
        page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Save icon").click()

    expect(page.get_by_text("Icon saved.")).to_be_visible()
    shown = page.get_by_alt_text("The icon on a light ground")
    seen = Image.open(BytesIO(shown.screenshot())).convert("RGB")
    # The left third is what was moved to.
    assert seen.getpixel((20, 20))[0] > 200
    assert visitor.complaints == []


def test_icon_sent_before_it_is_cropped_waits_for_that(visitor):
    page = visitor.page
    visitor.enter(f"/applications/{visitor.world.application.pk}/icon")
    page.wait_for_url("**/icon")
    page.evaluate(SLOW_PICTURES)
    wide = BytesIO()
    Image.new("RGB", (900, 300), "#0000ff").save(wide, "PNG")

    page.set_input_files("#id_icon", {"name": "wide.png", "mimeType": "image/png", "buffer": wide.getvalue()})
    page.get_by_role("button", name="Save icon").click()

    expect(page.get_by_text("Icon saved.")).to_be_visible()
    assert visitor.complaints == []


def test_small_picture_is_enlarged_with_a_warning_and_no_picture_is_refused(visitor):
    visitor.enter(f"/applications/{visitor.world.application.pk}/icon")
    small = BytesIO()
    Image.new("RGB", (100, 80)).save(small, "PNG")

    visitor.page.set_input_files(
        "#id_icon", {"name": "small.png", "mimeType": "image/png", "buffer": small.getvalue()}
    )
    expect(visitor.page.get_by_role("alert")).to_have_text(re.compile("100 × 80"))
    visitor.page.set_input_files("#id_icon", {"name": "a.png", "mimeType": "image/png", "buffer": b"none"})
    expect(visitor.page.get_by_role("alert")).to_have_text(re.compile("not a readable"))
    assert visitor.complaints == []


def test_icon_is_previewed_under_a_guide_of_its_center(visitor):
    page = visitor.page
    visitor.enter(f"/applications/{visitor.world.application.pk}/icon")
    page.set_input_files("#id_icon", {"name": "icon.png", "mimeType": "image/png", "buffer": picture()})

    for ground, color in (("light", (255, 255, 255)), ("dark", (20, 24, 27))):
        expect(page.get_by_alt_text(f"The new icon on a {ground} ground")).to_be_visible()
        seen = Image.open(BytesIO(page.locator(f".preview-{ground}").screenshot())).convert("RGB")
        dashes = [
            (across, down)
            for across in range(seen.width)
            for down in range(seen.height)
            if seen.getpixel((across, down)) == GUIDE
        ]
        left, right = min(across for across, _ in dashes), max(across for across, _ in dashes)
        top, bottom = min(down for _, down in dashes), max(down for _, down in dashes)
        assert seen.getpixel((12, seen.height // 2)) == color
        # Between the dashes lie the 94 pixels of the center.
        assert (right - left - 1, bottom - top - 1) == (94, 94)
        assert abs(left + right + 1 - seen.width) <= 2
        assert abs(top + bottom + 1 - seen.height) <= 2


def copied(visitor, element: str) -> tuple[str, str]:
    """What the button beside an element leaves on the clipboard, and what the element shows."""
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=visitor.address)
    page.evaluate("navigator.clipboard.writeText('nothing yet')")
    button = page.locator(f"button[data-copy='{element}']")
    button.click()
    expect(button).to_have_text("Copied")
    return page.evaluate("navigator.clipboard.readText()"), page.locator(f"#{element}").text_content()


def test_key_is_copied_whole(visitor):
    visitor.enter(f"/applications/{visitor.world.application.pk}/keys")
    visitor.page.get_by_role("link", name="Show").first.click()

    clipboard, shown = copied(visitor, "key")

    assert re.fullmatch(r"sfk_\S{20,}", clipboard)
    assert clipboard == shown
    assert visitor.complaints == []


def test_lines_of_the_guide_are_copied_as_they_stand(visitor):
    visitor.go("/guide")

    clipboard, shown = copied(visitor, "token-curl")

    assert "curl -s" in clipboard
    assert len(clipboard.splitlines()) > 1
    assert clipboard == shown
    assert visitor.complaints == []


def authorize(visitor, reply_url: str, **more: str) -> None:
    query = {
        "response_type": "code",
        "client_id": visitor.world.application.client_id,
        "redirect_uri": reply_url,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "state": "xyz",
        **more,
    }
    visitor.go(f"/oauth/authorize?{urlencode(query)}")
    visitor.sign_in()


@pytest.mark.parametrize(("button", "given"), [("Allow", "code"), ("Deny", "error")])
def test_sign_in_and_consent_end_at_the_application(reply_url, visitor, button, given):
    authorize(visitor, reply_url)
    visitor.page.get_by_role("button", name=button).click()
    visitor.page.wait_for_url(f"{reply_url}?*")

    response = parse_qs(urlsplit(visitor.page.url).query)
    assert set(response) >= {given, "state", "iss"}
    assert response["state"] == ["xyz"]
    assert visitor.complaints == []


def test_error_after_the_sign_in_reaches_the_application(reply_url, visitor):
    authorize(visitor, reply_url, scope="Nonsense")
    visitor.page.wait_for_url(f"{reply_url}?*")

    assert parse_qs(urlsplit(visitor.page.url).query)["error"] == ["invalid_scope"]
    assert visitor.complaints == []


TRANSFERRED = """() => performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource"))
    .map((entry) => [entry.name, entry.transferSize])"""


@pytest.mark.parametrize("path", ["/", "/accounts/login/"])
def test_first_page_is_light(visitor, path):
    """Uncompressed, as the test serves it; in production it is about a third. Text does not wait for the typeface."""
    page = visitor.page
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    visitor.go(path)
    page.wait_for_load_state("networkidle")

    sizes = dict(page.evaluate(TRANSFERRED))

    assert len(sizes) >= 4
    assert min(sizes.values()) > 0
    assert all(name.startswith(visitor.address) for name in sizes)
    typeface = sum(size for name, size in sizes.items() if name.endswith(".woff2"))
    assert typeface <= 34_000
    assert sum(sizes.values()) - typeface <= 60_000
