import re
from io import BytesIO
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import expect

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_a_wrong_icon_is_told_before_it_is_sent(visitor):
    visitor.go(f"/applications/{visitor.world.application.pk}/icon")
    visitor.sign_in()
    small = BytesIO()
    Image.new("RGB", (100, 80)).save(small, "PNG")

    visitor.page.set_input_files(
        "#id_icon", {"name": "small.png", "mimeType": "image/png", "buffer": small.getvalue()}
    )

    expect(visitor.page.get_by_role("alert")).to_have_text(re.compile("100 x 80"))
    assert visitor.complaints == []


def copied(visitor, element: str) -> tuple[str, str]:
    """What the button beside an element leaves on the clipboard, and what the element shows."""
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=visitor.address)
    page.evaluate("navigator.clipboard.writeText('nothing yet')")
    button = page.locator(f"button[data-copy='{element}']")
    button.click()
    expect(button).to_have_text("Copied")
    return page.evaluate("navigator.clipboard.readText()"), page.locator(f"#{element}").text_content()


def test_a_key_is_copied_whole(visitor):
    visitor.go(f"/applications/{visitor.world.application.pk}/keys")
    visitor.sign_in()
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

    answer = parse_qs(urlsplit(visitor.page.url).query)
    assert set(answer) >= {given, "state", "iss"}
    assert answer["state"] == ["xyz"]
    assert visitor.complaints == []


def test_an_error_after_the_sign_in_reaches_the_application(reply_url, visitor):
    authorize(visitor, reply_url, scope="Nonsense")
    visitor.page.wait_for_url(f"{reply_url}?*")

    assert parse_qs(urlsplit(visitor.page.url).query)["error"] == ["invalid_scope"]
    assert visitor.complaints == []


TRANSFERRED = """() => performance.getEntriesByType("navigation").concat(performance.getEntriesByType("resource"))
    .map((entry) => [entry.name, entry.transferSize])"""


@pytest.mark.parametrize("path", ["/", "/accounts/login/"])
def test_a_first_page_is_light(visitor, path):
    """Uncompressed, as the test serves it; in production it is about a third."""
    visitor.go(path)
    visitor.page.wait_for_load_state("networkidle")

    sizes = dict(visitor.page.evaluate(TRANSFERRED))

    assert len(sizes) >= 4
    assert all(name.startswith(visitor.address) for name in sizes)
    assert sum(sizes.values()) <= 60_000
