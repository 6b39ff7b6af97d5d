"""What people come for, from the first page to the last, in a real browser."""

import base64
import hashlib
import re
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from django.core import mail
from django.db import connection
from playwright.sync_api import expect

from accounts.services.mailed_links import RESET_TASK
from stores.catalog.models import Store
from tests.factories.stores import make_product
from tests.support.browser.page_fixtures import picture
from tests.support.patience import PATIENCE
from tests.support.scenario import PASSWORD
from tests.support.servers.queued_jobs import work_off

pytestmark = pytest.mark.slow

VERIFIER = "a-verifier-of-at-least-forty-three-characters-long"
NARROW = pytest.mark.parametrize("visitor", [(390, "dark")], indirect=True, ids=["narrow"])


@pytest.fixture
def site(site, settings):
    settings.DEFAULT_TENANT_DOMAIN = "print.example"
    settings.SIGN_UP_ENABLED = True
    make_product(site[1].unassociated, Name="Gallery postcard")
    return site


def send_reset_mail() -> None:
    work_off(RESET_TASK)
    connection.close()


def approve_everything(visitor) -> None:
    """As an operator, in a window of their own."""
    context = visitor.page.context.browser.new_context()
    page = context.new_page()
    page.goto(f"{visitor.address}/accounts/login/?next=/admin/accounts/associationrequest/")
    page.fill("#id_username", "operator")
    page.fill("#id_password", PASSWORD)
    page.click("main button[type=submit]")
    page.locator("input.action-select").first.check()
    page.locator("button[name=action][value=approve]").click()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text(re.compile("approved", re.IGNORECASE)).first).to_be_visible()
    context.close()


def test_from_signing_up_to_the_products_of_a_store(reply_url, visitor):
    page = visitor.page
    visitor.go("/")
    page.get_by_role("link", name="Create an account").click()
    for name, value in (("username", "nora"), ("email", "nora@far.example")):
        page.fill(f"#id_{name}", value)
    page.fill("#id_password", PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hello nora")

    page.get_by_role("link", name="New application").first.click()
    page.fill("#id_name", "Press Kit")
    page.get_by_role("button", name="Create application").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Press Kit")
    page.get_by_role("link", name="Add a redirect URI").click()
    page.fill("#id_reply_urls", reply_url)
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Overview", exact=True).click()
    client_id = page.locator("#client-id").inner_text()

    page.get_by_role("link", name="Keys", exact=True).click()
    page.get_by_role("link", name="Show").first.click()
    key = page.locator("#key").inner_text()
    page.get_by_role("link", name="Show").last.click()
    subscription_key = page.locator("#primary").inner_text()

    page.get_by_role("navigation", name="Application").get_by_role("link", name="Stores").click()
    page.fill("#id_store", "unassociated")
    page.get_by_role("button", name="Request access").click()
    expect(page.get_by_text("Pending")).to_be_visible()
    approve_everything(visitor)
    page.reload()
    expect(page.locator("section", has_text="Stores it may use").first).to_contain_text("Unassociated Print")

    token = _token(visitor, client_id, key, reply_url)
    products = requests.get(
        f"{visitor.address}/api/v1/store/unassociated/product",
        headers={"Authorization": f"Bearer {token}", "Ocp-Apim-Subscription-Key": subscription_key},
        timeout=PATIENCE,
    )
    assert [product["Name"] for product in products.json()] == ["Gallery postcard"]
    assert visitor.complaints == []


def _token(visitor, client_id: str, key: str, reply_url: str) -> str:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": reply_url,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "state": "xyz",
    }
    visitor.go(f"/oauth/authorize?{urlencode(query)}")
    visitor.page.get_by_role("button", name="Allow").click()
    visitor.page.wait_for_url(f"{reply_url}?*")
    (code,) = parse_qs(urlsplit(visitor.page.url).query)["code"]
    response = requests.post(
        f"{visitor.address}/oauth/token",
        auth=(client_id, key),
        data={
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": reply_url,
            "code_verifier": VERIFIER,
        },
        timeout=PATIENCE,
    )
    return response.json()["access_token"]


@NARROW
def test_icon_is_seen_before_and_after_it_is_sent(visitor):
    page = visitor.page
    visitor.go(f"/applications/{visitor.world.application.pk}/icon")
    visitor.sign_in()

    page.set_input_files("#id_icon", {"name": "icon.png", "mimeType": "image/png", "buffer": picture()})
    expect(page.get_by_alt_text("The new icon on a dark ground")).to_be_visible()
    page.get_by_role("button", name="Save icon").click()

    expect(page.get_by_text("Icon saved.")).to_be_visible()
    icon = page.get_by_alt_text("The icon on a dark ground")
    expect(icon).to_have_js_property("naturalWidth", 215)
    assert icon.evaluate("image => image.naturalHeight") == 215
    assert visitor.complaints == []


@NARROW
def test_keys_of_an_application_are_regenerated_after_asking(visitor):
    page = visitor.page
    visitor.go(f"/applications/{visitor.world.application.pk}/keys")
    visitor.sign_in()
    page.get_by_role("link", name="Show").first.click()
    old = page.locator("#key").inner_text()

    page.get_by_role("link", name="Regenerate", exact=True).click()
    expect(page.get_by_text("stops working at once")).to_be_visible()
    page.get_by_role("button", name="Regenerate").click()

    new = page.locator("#key").inner_text()
    assert (new.startswith("sfk_"), new == old) == (True, False)
    assert visitor.complaints == []


def test_subscription_key_is_rotated_after_the_password(visitor):
    page = visitor.page
    visitor.go("/profile/keys")
    visitor.sign_in()
    assert page.locator("#primary").count() == 0
    page.get_by_role("link", name="Show the keys").click()
    before = [page.locator(f"#{slot}").inner_text() for slot in ("primary", "secondary")]

    page.get_by_role("link", name="Regenerate the primary key").click()
    page.get_by_role("button", name="Regenerate").click()

    expect(page.get_by_text("Primary key regenerated.")).to_be_visible()
    after = [page.locator(f"#{slot}").inner_text() for slot in ("primary", "secondary")]
    assert (after[0] == before[0], after[1] == before[1]) == (False, True)
    assert visitor.complaints == []


@NARROW
def test_forgotten_password_is_replaced_by_mail(visitor):
    page = visitor.page
    visitor.go("/accounts/login/")
    page.get_by_role("link", name="Forgot your password?").click()
    page.fill("#id_email", "user@print.example")
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Check your e-mail")
    # In a thread without the browser's loop, which keeps Django from the database.
    worker = Thread(target=send_reset_mail)
    worker.start()
    worker.join()

    visitor.go(urlsplit(re.search(r"http\S+/password-reset/\S+", mail.outbox[0].body)[0]).path)
    for name in ("id_new_password1", "id_new_password2"):
        page.fill(f"#{name}", "another long pass phrase")
    page.get_by_role("button", name="Save the password").click()
    page.get_by_role("link", name="Sign in").last.click()
    page.fill("#id_username", "user")
    page.fill("#id_password", "another long pass phrase")
    page.click("main button[type=submit]")

    expect(page.get_by_role("heading", level=1)).to_have_text("Hello User")
    assert visitor.complaints == []


def test_owner_is_invited_and_accepts(visitor):
    page = visitor.page
    base = f"/applications/{visitor.world.other_application.pk}"
    visitor.go(f"{base}/owners")
    visitor.sign_in("outsider")
    page.fill("#id_email", "user@print.example")
    page.get_by_role("button", name="Invite").click()
    expect(page.get_by_text("Pending")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()

    visitor.go(re.search(r"/invitations/\S+", mail.outbox[0].body)[0])
    page.get_by_role("link", name="Sign in to accept").click()
    visitor.sign_in()
    page.get_by_role("button", name="Accept").click()

    expect(page.get_by_text("You are now an owner of Other.")).to_be_visible()
    assert visitor.complaints == []


def test_everything_works_without_javascript(visitor):
    """Nothing is left over that only a script could bring to life."""
    context = visitor.page.context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{visitor.address}/applications/new")
    page.fill("#id_username", "user")
    page.fill("#id_password", PASSWORD)
    page.click("main button[type=submit]")
    page.fill("#id_name", "Press Kit")
    page.get_by_role("button", name="Create application").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Press Kit")
    assert page.get_by_role("button", name="Copy").count() == 0

    page.get_by_role("link", name="Try it", exact=True).first.click()
    page.check("#in-python")
    expect(page.get_by_role("region", name="Python: get a token")).to_be_visible()
    expect(page.get_by_role("region", name="curl: get a token")).to_be_hidden()
    page.get_by_role("link", name="Icon", exact=True).click()
    page.set_input_files("#id_icon", {"name": "icon.png", "mimeType": "image/png", "buffer": picture()})
    page.get_by_role("button", name="Save icon").click()
    expect(page.get_by_text("Icon saved.")).to_be_visible()
    context.close()


def test_first_stop_of_the_keyboard_skips_to_the_content(visitor):
    page = visitor.page
    visitor.go("/applications")
    visitor.sign_in()
    expect(page.get_by_role("heading", level=1)).to_have_text("Applications")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Request to join")).to_be_focused()


@pytest.fixture
def store_for_tests(site):
    Store.objects.filter(external_id="unassociated").update(admits_test_applications=True)


def test_from_a_test_application_to_a_store_that_lets_it_in(store_for_tests, visitor):
    page = visitor.page
    visitor.go("/accounts/login/?next=/applications/new")
    visitor.sign_in()
    page.fill("#id_name", "Trial")
    page.get_by_label("Test application").check()
    page.get_by_role("button", name="Create application").click()
    expect(page.locator(".page-head .badge-test")).to_have_text("Test")

    page.get_by_role("navigation", name="Application").get_by_role("link", name="Stores").click()
    page.fill("#id_store", "unassociated")
    page.get_by_role("button", name="Request access", exact=True).click()

    expect(page.locator(".notice")).to_have_text(
        "Unassociated Print admits test applications: you can use it now."
    )
    visitor.go("/applications")
    expect(page.locator("li", has_text="Trial").locator(".badge-test")).to_have_text("Test")
