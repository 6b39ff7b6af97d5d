"""The bell: a sign-in from a new browser is shown and read, and its mail switched off."""

import pytest
from playwright.sync_api import expect

from tests.support.browser.visual_checks import LOOKS, OTHER_LOOKS, faults_of

pytestmark = pytest.mark.slow


def test_person_reads_the_bell_and_chooses_what_is_mailed(visitor):
    page = visitor.page
    visitor.go("/accounts/login/?next=/profile")
    visitor.sign_in()
    visitor.page.context.clear_cookies()
    visitor.go("/accounts/login/?next=/profile")
    visitor.sign_in()
    bell = page.get_by_role("link", name="Notifications 1 unread")
    bell.click()
    faults = faults_of(visitor, "bell", lambda: visitor.go("/notifications"), looks=[*LOOKS, *OTHER_LOOKS])
    page.get_by_role("link", name="New sign-in from an unknown browser").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("User Example")
    expect(page.locator(".bell-count")).to_have_count(0)
    page.get_by_role("link", name="Notifications", exact=True).last.click()
    page.get_by_label("Mail: Your account is used").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Mail: Your account is used")).not_to_be_checked()
    faults += faults_of(visitor, "preferences", lambda: visitor.go("/notifications/preferences"))
    assert faults == []
