"""The API reference as a person reads it: found by search, sent without pasting a key, read on a phone."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.slow


def test_reader_finds_an_operation_and_sends_it_with_a_key_never_seen(visitor):
    page = visitor.page
    visitor.go("/api/v1/docs")
    page.keyboard.press("/")
    page.keyboard.type("store_read")
    links = page.get_by_role("navigation", name="API reference").get_by_role("link")
    expect(links.filter(visible=True)).to_have_text(["GETRead a store"])
    links.filter(visible=True).click()
    page.check("#in-python")
    expect(page.locator("#sample-python")).to_contain_text("import requests")
    expect(page.locator("#sample-curl")).to_be_hidden()
    page.get_by_role("link", name="Sign in to send it").click()
    visitor.sign_in()
    # The form is a page of its own here, and part of the operation's page from now on.
    expect(page.get_by_role("heading", level=1)).to_have_text("Send a request")
    visitor.go("/api/v1/docs/operations/store_read")
    expect(page.locator("#sample-python")).to_be_visible()
    page.get_by_role("link", name="Send a request").click()
    page.get_by_label("storeID").fill("associated")
    page.get_by_role("button", name="Send", exact=True).click()
    response = page.get_by_role("region", name="Response", exact=True)
    expect(response).to_contain_text("200 OK")
    expect(response).to_contain_text(" ms")
    expect(response).to_contain_text('"StoreID": "associated"')
    assert "sfa_" not in page.content()
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", [(390, "dark")], indirect=True)
def test_menu_opens_and_closes_on_a_phone_without_script(visitor):
    page = visitor.page
    visitor.go("/api/v1/docs/operations/order_create")
    menu = page.get_by_role("navigation", name="API reference")
    expect(menu).to_be_hidden()
    page.get_by_role("link", name="Menu and search").click()
    expect(menu).to_be_visible()
    menu.get_by_role("link", name="Close").click()
    expect(menu).to_be_hidden()
