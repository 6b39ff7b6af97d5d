"""Mistakes in forms: all at once, in our own words, and work goes on at the first wrong field."""

import pytest
from playwright.sync_api import expect

from tests.support.browser.axe import violations
from tests.support.scenario import PASSWORD

pytestmark = pytest.mark.slow

PHONE = [(390, "dark")]


@pytest.mark.parametrize("visitor", PHONE, indirect=True)
def test_refused_sign_up_goes_on_at_the_first_wrong_field(visitor):
    page = visitor.page
    visitor.go("/accounts/signup/")
    page.get_by_role("button", name="Create account").click()
    summary = page.locator("[data-mistakes]")
    expect(summary).to_contain_text("3 problems to fix: Username, E-mail, Password")
    expect(page.locator("#id_username")).to_be_focused()

    page.fill("#id_username", "nora")
    page.fill("#id_email", "nora@far.example")
    page.fill("#id_password", "short")
    page.get_by_role("button", name="Create account").click()
    expect(summary).to_contain_text("1 problem to fix: Password")
    expect(page.locator("#id_password")).to_be_focused()
    expect(page.locator("#id_password")).to_be_in_viewport()
    expect(page.locator("#id_email")).to_have_value("nora@far.example")
    page.evaluate("scrollTo(0, 0)")
    summary.get_by_role("link", name="Password").click()
    expect(page.locator("#id_password")).to_be_focused()
    assert violations(page) == []
    page.fill("#id_password", PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Hello nora")
    assert visitor.complaints == []


def test_console_goes_on_at_the_first_wrong_field(visitor):
    page = visitor.page
    visitor.enter("/admin/accounts/tenant/add/", "operator")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#form-problems")).to_be_visible()
    expect(page.locator("#id_domain")).to_be_focused()
    assert visitor.complaints == []
