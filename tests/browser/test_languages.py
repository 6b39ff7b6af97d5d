"""Other languages in a real browser: German from the sign-in to a corrected order, and pages of longer texts."""

import re

import pytest
from playwright.sync_api import expect

from tests.factories.orders import make_card
from tests.support.browser.page_fixtures import furnish
from tests.support.browser.visual_checks import OVERFLOW

pytestmark = pytest.mark.slow

NARROW = pytest.mark.parametrize("visitor", [(390, "light")], indirect=True)
# Words of the bar, of tabs, of buttons and of tables are those that get too long first.
TEN_PAGES = (
    "/",
    "/catalog",
    "/catalog/demo/card",
    "/stores",
    "/mailings",
    "/applications",
    "/applications/{application}",
    "/applications/{application}/keys",
    "/applications/{application}/requests",
    "/profile",
)


@pytest.fixture
def site(site):
    make_card(site[1].demo, "card")
    return site


@pytest.fixture
def furnished(site):
    """Before the browser runs, whose loop keeps the database to itself."""
    furnish(site[1])
    return site


@NARROW
def test_german_from_the_sign_in_to_a_corrected_order(visitor):
    page = visitor.page
    page.set_extra_http_headers({"Accept-Language": "de-DE,de;q=0.9"})
    visitor.go("/catalog/demo/card")
    expect(page.get_by_role("heading", name="Anmelden")).to_be_visible()
    visitor.sign_in()
    quantity = page.get_by_label("Menge")

    quantity.fill("viele")
    page.get_by_role("button", name="Preise abrufen").click()
    expect(page.get_by_text("Geben Sie eine ganze Zahl ein")).to_be_visible()
    quantity.fill("3")
    page.get_by_role("button", name="Preise abrufen").click()
    expect(page.get_by_text(re.compile("3 kann nicht bestellt werden"))).to_be_visible()
    quantity.fill("200")
    page.get_by_role("button", name="Preise abrufen").click()
    expect(page.get_by_text("24,00 USD").first).to_be_visible()
    page.get_by_role("button", name="Demo-Bestellung aufgeben").click()
    expect(page.get_by_role("heading", name="Bestellung 1")).to_be_visible()
    assert page.evaluate(OVERFLOW) <= 0
    assert visitor.complaints == []


@NARROW
def test_ten_pages_of_longer_texts_fit_into_390_pixels(furnished, visitor, pseudo):
    page, application = visitor.page, visitor.world.application.pk
    page.set_extra_http_headers({"Accept-Language": pseudo})
    visitor.go("/accounts/login/")
    visitor.sign_in()
    page.wait_for_url(f"{visitor.address}/")

    too_wide = {}
    for path in TEN_PAGES:
        visitor.go(path.format(application=application))
        if (overflow := page.evaluate(OVERFLOW)) > 0:
            too_wide[path] = overflow
    assert too_wide == {}
