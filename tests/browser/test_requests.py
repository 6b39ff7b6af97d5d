"""From the figure of refused calls to what was wrong with one of them."""

import pytest
from playwright.sync_api import expect

from applications.metrics import flush_usage
from tests.support.browser.visual_checks import LOOKS, OTHER_LOOKS, faults_of
from tests.support.caches import clear_caches

pytestmark = pytest.mark.slow


@pytest.fixture
def site(site):
    """With calls in the log; made before the browser, whose loop keeps Django from the database."""
    clear_caches()
    world = site[1]
    client = world.as_application()
    client.call("GET", "/store/associated/product")
    client.call("POST", "/store/associated/quote", {"Items": []})
    flush_usage()
    return site


def test_developer_finds_why_a_call_was_refused(visitor):
    page, own = visitor.page, f"/applications/{visitor.world.application.pk}"
    visitor.enter(own)
    page.locator(".figures a").click()
    page.get_by_role("link", name="POST Request prices").click()
    expect(page.locator("#body")).to_contain_text('"Pointer"')
    page.get_by_role("link", name="Requests", exact=True).first.click()
    page.get_by_text("Filter by status").click()
    page.select_option("#id_operation", label="GET List the products of a store")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".rows li")).to_have_count(1)
    page.get_by_role("link", name="Latency and errors").click()
    expect(page.get_by_role("row")).to_have_count(3)
    faults = []
    for path, looks in (
        (f"{own}/requests", [*LOOKS, *OTHER_LOOKS]),
        (f"{own}/requests?status=4xx", LOOKS),
        (f"{own}/requests/performance", LOOKS),
    ):
        faults += faults_of(visitor, path, lambda path=path: visitor.go(path), looks=looks)
    assert faults == []
