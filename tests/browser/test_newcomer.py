"""A newcomer, from the start page to a first proof and a first order, with every action counted."""

import pytest
import requests
from playwright.sync_api import Page, expect

from tests.factories.orders import make_card
from tests.support.scenario import PASSWORD

MOST_ACTIONS = 25


class Newcomer:
    """Each click, each field filled in and each paste into a terminal is one action."""

    def __init__(self, page: Page) -> None:
        self.page, self.actions = page, []

    def click(self, role: str, name: str, **more) -> None:
        self.actions.append(f"click {name}")
        self.page.get_by_role(role, name=name, **more).first.click()

    def fill(self, label: str, text: str) -> None:
        self.actions.append(f"fill in {label}")
        self.page.get_by_label(label, exact=True).fill(text)

    def paste(self, what: str) -> None:
        self.actions.append(f"paste {what}")


@pytest.fixture
def site(site, settings):
    settings.SIGN_UP_ENABLED = True
    make_card(site[1].demo, "business-card")
    return site


@pytest.mark.slow
def test_a_newcomer_reaches_a_proof_and_an_order_in_few_actions(visitor):
    page, person = visitor.page, Newcomer(visitor.page)
    visitor.go("/")
    person.click("link", "Create an account")
    for label, text in (
        ("First name", "Nora"),
        ("Last name", "New"),
        ("Username", "nora"),
        ("E-mail", "nora@far.example"),
        ("Password", PASSWORD),
    ):
        person.fill(label, text)
    person.click("button", "Create account")
    person.click("link", "New application")
    person.fill("Name", "Press Kit")
    person.click("button", "Create application")
    expect(page.get_by_text("1 of 7 done.")).to_be_visible()

    # A first token and a first read, with the lines of the portal in a terminal.
    person.click("link", "Get a first token")
    person.click("link", "Insert my keys")
    person.fill("Your password", PASSWORD)
    person.click("button", "Continue")
    person.paste("the lines that get a token")
    client_id, key = page.locator("#token-curl").inner_text().split("-u '")[1].split("'")[0].split(":")
    token = requests.post(
        f"{visitor.address}/oauth/token",
        auth=(client_id, key),
        data={"grant_type": "client_credentials"},
        timeout=10,
    ).json()["access_token"]
    person.paste("the lines that read the products")
    subscription_key = (
        page.locator("#products-curl").inner_text().split("Subscription-Key: ")[1].strip('"\n ')
    )
    headers = {"Authorization": f"Bearer {token}", "Ocp-Apim-Subscription-Key": subscription_key}
    products = requests.get(f"{visitor.address}/api/v1/store/demo/product", headers=headers, timeout=10)
    assert [one["ID"] for one in products.json()] == ["business-card"]

    # A first proof and a first order.
    person.click("link", "Catalog", exact=True)
    person.click("link", "Demo Print")
    person.click("link", "Product business-card")
    person.fill("Name on the card", "Nora New")
    expect(page.get_by_alt_text("Page 1 of the proof")).to_be_visible()
    person.click("button", "Place a demo order")
    expect(page.get_by_role("heading", name="Order 1")).to_be_visible()
    expect(page.get_by_alt_text("Proof of Product business-card")).to_be_visible()

    visitor.go("/")
    for done in ("Get a first token", "Make a first proof", "Place a first order"):
        expect(page.locator(".is-done", has_text=done)).to_be_visible()
    assert len(person.actions) <= MOST_ACTIONS, person.actions
    assert visitor.complaints == []
