"""The second step in a real browser: the QR code is drawn within the page's policy, and the whole way works."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.accounts.two_factor import code_of
from tests.support.browser.console_forms import SIZES
from tests.support.browser.visual_checks import shoot

pytestmark = pytest.mark.slow


def overflow(page) -> int:
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_two_factor_sign_in_is_set_up_and_required(visitor):
    page = visitor.page
    visitor.go("/accounts/login/?next=/profile/two-factor/set-up")
    visitor.sign_in("operator")
    picture = page.locator("main img")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth > 100)")
    assert overflow(page) <= 0
    shoot(visitor.page, "set-up")
    key = page.locator("main code").first.inner_text().replace(" ", "")
    page.fill("#id_code", code_of(key))
    page.get_by_role("button", name="Turn on").click()
    codes = re.findall(r"[a-z2-9]{4}(?:-[a-z2-9]{4}){2}", page.inner_text("main pre"))
    assert len(codes) == 10
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    saved = Path(download.value.path()).read_text("utf-8")
    assert [code for code in codes if code not in saved] == []
    expect(page.get_by_role("button", name="Copy")).to_be_visible()
    page.evaluate("window.print = () => { document.title = 'printed' }")
    page.get_by_role("button", name="Print").click()
    assert page.title() == "printed"
    assert overflow(page) <= 0
    shoot(visitor.page, "codes")
    page.click("text=I have saved them")
    shoot(visitor.page, "on")

    page.context.clear_cookies()
    visitor.go("/accounts/login/?next=/profile/two-factor")
    visitor.sign_in("operator")
    page.wait_for_url("**/accounts/second-step/")
    shoot(visitor.page, "second-step")
    page.fill("#id_code", codes[0])
    page.click("main form button[type=submit]")
    page.wait_for_url("**/profile/two-factor")
    expect(page.locator("main dl dd").nth(1)).to_have_text("9")
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_page_that_says_when_to_try_again(visitor, settings):
    settings.SIGN_IN_TRIES_PER_ACCOUNT = 1
    page = visitor.page
    for _ in range(2):
        visitor.go("/accounts/login/")
        page.fill("#id_username", "user")
        page.fill("#id_password", "wrong")
        page.click("main button[type=submit]")

    expect(page.locator("main")).to_contain_text("Try again in 15 minutes")
    assert overflow(page) <= 0
    shoot(visitor.page, "too-many")
