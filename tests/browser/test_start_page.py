"""What a signed-out visitor sees: a card that follows the name, and the request beside it, with and without script."""

import pytest
from playwright.sync_api import expect

from tests.support.browser.visual_checks import LOOKS, OTHER_LOOKS, faults_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("business_card")]


def test_card_and_the_request_follow_the_name(visitor):
    page = visitor.page
    visitor.go("/")
    before = page.get_attribute(".live-picture", "src")

    page.get_by_label("Type a name").press_sequentially("Grace Hopper")

    expect(page.get_by_alt_text("Proof of a business card for Grace Hopper")).to_be_visible()
    assert page.get_attribute(".live-picture", "src") != before
    expect(page.locator("#live-curl")).to_contain_text('"Name": "Grace Hopper"')
    page.get_by_role("radio", name="Python").check()
    expect(page.locator("#live-python")).to_be_visible()
    expect(page.locator("#live-python")).to_contain_text('"Name": "Grace Hopper"')
    assert visitor.complaints == []


def test_name_that_does_not_fit_is_explained_and_the_card_stays(visitor):
    page = visitor.page
    visitor.go("/")
    page.fill("#live-name", "W" * 60)

    expect(page.locator("#live-note")).to_contain_text("does not fit")
    expect(page.locator("#live-name")).to_have_attribute("aria-invalid", "true")
    page.fill("#live-name", "Grace")
    expect(page.get_by_alt_text("Proof of a business card for Grace")).to_be_visible()


def test_start_page_has_no_faults_in_either_scheme(visitor):
    faults = faults_of(visitor, "start", lambda: visitor.go("/?name=Ada"), looks=[*LOOKS, *OTHER_LOOKS])

    assert faults == []


def test_without_script_the_name_is_sent(site, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(site[0])
    page.fill("#live-name", "Grace Hopper")
    page.get_by_role("button", name="Make the proof").click()

    expect(page.get_by_alt_text("Proof of a business card for Grace Hopper")).to_be_visible()
    expect(page.locator("#live-curl")).to_contain_text('"Name": "Grace Hopper"')
    context.close()
