import re
from io import BytesIO
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import expect

CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
WINDOWS = [(1280, "light"), (390, "dark")]


def icon() -> dict[str, object]:
    out = BytesIO()
    Image.new("RGB", (215, 215), "#225588").save(out, "PNG")
    return {"name": "icon.png", "mimeType": "image/png", "buffer": out.getvalue()}


@pytest.mark.parametrize("visitor", WINDOWS, indirect=True, ids=["wide", "narrow"])
def test_from_registering_to_asking_for_a_store(visitor):
    page = visitor.page
    visitor.go("/applications/new")
    visitor.sign_in()

    page.fill("#id_name", "Press Kit")
    page.fill("#id_reply_urls", "https://press.example/callback")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Press Kit")

    page.get_by_role("link", name="Keys").click()
    page.get_by_role("link", name="Show").first.click()
    expect(page.locator("#key")).to_have_text(re.compile(r"^sfk_\S{40,}$"))

    page.get_by_role("link", name="Icon").click()
    page.set_input_files("#id_icon", icon())
    expect(page.get_by_alt_text("The new icon on a dark ground")).to_be_visible()
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("The icon is saved.")).to_be_visible()

    page.get_by_role("link", name="Stores").click()
    page.fill("#id_store", "unassociated")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_text("Pending")).to_be_visible()

    assert visitor.complaints == []


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
