"""A developer's first minutes: nothing stands in the way that was said or done a moment ago."""

import json

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from tests.support.browser.axe import violations
from tests.support.browser.console_forms import SIZES
from tests.support.browser.visual_checks import OVERFLOW

pytestmark = pytest.mark.slow


@pytest.fixture
def site(site):
    """Of a person who has not opened the link in the mail; made before the browser runs."""
    User.objects.filter(username="user").update(
        email_confirmed=None, time_zone="UTC", last_login=timezone.now()
    )
    return site


def test_keys_requests_and_the_banner_ask_nothing_twice(visitor):
    page, own = visitor.page, f"/applications/{visitor.world.application.pk}"
    visitor.enter(f"{own}/try")
    banner = page.get_by_role("note", name="Your e-mail address")
    expect(banner).to_be_visible()
    assert banner.bounding_box()["height"] < 50
    page.get_by_role("link", name="Insert my keys").click()
    expect(page.locator("#token-curl")).not_to_contain_text("YOUR_KEY")

    visitor.go("/api/v1/docs/operations/webhook_list")
    expect(banner).to_have_count(0)
    expect(page.get_by_label("Search the reference")).to_be_in_viewport()
    page.get_by_role("link", name="Send a request").click()
    page.get_by_role("button", name="Send", exact=True).click()
    body = page.locator("#sent-body")
    expect(page.locator(".send .ref-status")).to_have_text("200 OK")
    assert json.loads(body.inner_text()) == []
    page.get_by_role("button", name="Copy").last.scroll_into_view_if_needed()
    expect(page.locator("[data-copy=sent-body]")).to_be_visible()
    assert body.evaluate("code => getComputedStyle(code).whiteSpaceCollapse") == "preserve"
    assert body.evaluate("code => code.parentElement.scrollWidth <= code.parentElement.clientWidth")

    visitor.go("/applications")
    banner.get_by_role("button", name="Later").click()
    expect(banner).to_have_count(0)
    page.get_by_role("link", name="Mailings").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose routes for a mailing")
    expect(banner).to_have_count(0)
    visitor.go("/profile")
    zone = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    if zone != "UTC":
        page.get_by_role("button", name="as in this browser").click()
        expect(page.locator("#id_time_zone")).to_have_value(zone)
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_pages_of_development_fit(visitor):
    visitor.enter("/admin/", "operator")
    for path in ("/dev/mail", "/admin/components/", "/admin/system/"):
        assert visitor.go(path) == 200
        assert violations(visitor.page) == [], path
        assert visitor.page.evaluate(OVERFLOW) <= 0, path
    assert visitor.complaints == []
