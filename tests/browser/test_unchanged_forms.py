"""Forms of the console saved without a change, and forms opened before another change."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser.console_forms import open_console
from tests.support.browser.console_pages import apps_of_console, pages_of

pytestmark = pytest.mark.slow
AUDIT_LOG = "/admin/audit/"


@pytest.fixture
def site(transactional_db, live_server, made_console, settings):
    settings.PUBLIC_URL = live_server.url
    return live_server.url, made_console.restore()


@pytest.fixture
def records(site) -> dict[str, str]:
    """The address of a record of each kind, by the name of its page."""
    world = site[1]
    pages = [one for app in apps_of_console() for one in pages_of(app, world, world.operator)]
    return {one.name.removesuffix(" record 0"): one.path for one in pages if one.name.endswith(" record 0")}


def save(page: Page) -> None:
    with page.expect_navigation():
        page.locator("[name=_save]").first.click()


def test_unchanged_forms_write_no_audit_entry(records, visitor):
    page, saved = visitor.page, {}
    open_console(visitor, AUDIT_LOG)
    before = page.locator("main").inner_text()
    for name, path in records.items():
        visitor.go(path)
        if page.locator("[name=_save]").count():
            save(page)
            saved[name] = page.get_by_text("No changes to save.").count()

    assert set(saved.values()) == {1}, saved
    assert {"production_routingrule", "stores_printpreset", "production_provider"} <= set(saved)
    visitor.go(AUDIT_LOG)
    assert page.locator("main").inner_text().splitlines() == before.splitlines()


def test_changed_row_refuses_a_form_that_was_opened_before(records, visitor):
    page = visitor.page
    open_console(visitor, records["production_routingrule"])
    earlier = page.context.new_page()
    earlier.goto(page.url)
    page.fill("[name=choices-0-share]", "7")
    save(page)

    earlier.bring_to_front()
    earlier.fill("[name=name]", "Of the earlier form")
    save(earlier)

    expect(earlier.get_by_text("Another user changed this record after you opened it")).to_be_visible()
    save(earlier)
    expect(earlier.locator("[name=choices-0-share]")).not_to_have_value("7")
    expect(earlier.locator("[name=name]")).to_have_value("Of the earlier form")
