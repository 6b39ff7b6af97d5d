"""Pages by their keyboard alone; support/browser/visual_checks.py checks on every page what a script can check."""

import pytest
from playwright.sync_api import expect

from tests.support.browser.console_forms import open_console

pytestmark = pytest.mark.slow

MAX_STOPS = 150
# The place of what has the focus among everything of the page.
AT = "() => [...document.querySelectorAll('*')].indexOf(document.activeElement)"
# Of several radio buttons one is a stop.
STOPS = """() => {
    const all = [...document.querySelectorAll("*")];
    return all
        .filter((one) => one.matches("a[href], button, input:not([type=hidden]), select, textarea, [tabindex]"))
        .filter((one) => one.tabIndex >= 0 && !one.disabled && (one.type !== "radio" || one.checked))
        .filter((one) => one.checkVisibility({ checkVisibilityCSS: true }))
        .map((one) => all.indexOf(one));
}"""


@pytest.mark.parametrize("path", ["/profile", "/admin/accounts/user/", "/admin/accounts/user/add/"])
def test_tab_goes_through_the_whole_page_in_its_order_and_out_again(visitor, path):
    page = open_console(visitor, path)
    # Some pages begin in their first field.
    page.locator("a.skip, a.console-skip").focus()
    gone: list[int] = [page.evaluate(AT)]

    while len(gone) < MAX_STOPS:
        page.keyboard.press("Tab")
        at = page.evaluate(AT)
        # Past the last stop the browser's own bar follows, here the page itself or its first stop.
        if at in gone or at <= page.evaluate("[...document.querySelectorAll('*')].indexOf(document.body)"):
            break
        gone.append(at)

    assert len(gone) < MAX_STOPS
    assert set(page.evaluate(STOPS)) <= set(gone)
    assert gone == sorted(gone)


@pytest.mark.parametrize(
    ("visitor", "path", "opener", "inside"),
    [
        ((1280, "light"), "/admin/", "Theme, password, sign out:", "nav button:has-text('Dark')"),
        ((1280, "light"), "/admin/accounts/user/", "Filters", "#changelist-filter a"),
        ((390, "light"), "/admin/", "Show or hide the side bar", "[aria-label='Hide the side bar']"),
    ],
    indirect=["visitor"],
    ids=["menu of the user", "filters", "side bar"],
)
def test_escape_closes_what_was_opened_and_gives_the_focus_back(visitor, path, opener, inside):
    page = open_console(visitor, path)
    button = page.get_by_role("button", name=opener).locator("visible=true").first
    button.focus()
    page.keyboard.press("Enter")
    part = page.locator(inside).locator("visible=true").first
    expect(part).to_be_visible()
    part.focus()

    page.keyboard.press("Escape")

    expect(page.locator(inside).locator("visible=true")).to_have_count(0)
    expect(button).to_be_focused()
    assert visitor.complaints == []


def test_content_is_reached_within_ten_stops_and_the_skip_link_is_the_first(visitor):
    page = open_console(visitor, "/admin/accounts/user/")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    expect(page.locator("a.console-skip")).to_be_focused()

    for _ in range(9):
        page.keyboard.press("Tab")
        if page.evaluate("document.getElementById('console-main').contains(document.activeElement)"):
            break
    else:
        pytest.fail("Ten stops and still outside of the content.")
    assert visitor.complaints == []
