"""Pictures are drawn when first shown: refused ones keep their place, and come later without a reload of the page."""

import pytest
from playwright.sync_api import Page, Route

from stores.catalog.services import thumbnails
from stores.concurrency_limits import RENDERINGS
from stores.orders.models import Order
from stores.orders.services import print_files
from tests.support.browser.console_fixtures import place_orders
from tests.support.patience import wait_for

pytestmark = pytest.mark.slow

LIST = "/admin/stores/order/"
# The one for an enlarged picture has no address yet.
PICTURES = '[...document.querySelectorAll("img[data-retry][src]")]'
IS_REFUSED = f"() => {PICTURES}.some((one) => one.complete && !one.naturalWidth)"
ARE_DRAWN = f"() => {PICTURES}.every((one) => one.scrollIntoView() || (one.complete && one.naturalWidth))"
PLACEHOLDERS = f"""() => {PICTURES}.map((one) => [getComputedStyle(one).backgroundImage,
    Math.min(one.offsetWidth, one.offsetHeight)])"""


@pytest.fixture
def order(site) -> Order:
    place_orders(site[1])
    return Order.objects.latest("number")


@pytest.fixture
def one_renderer(settings, monkeypatch) -> None:
    """Nobody waits for it."""
    settings.RENDERINGS_CONCURRENCY, settings.CONCURRENCY_WAIT_SECONDS = 1, 0
    for module in (print_files, thumbnails):
        monkeypatch.setattr(module, "WAIT_SECONDS", 0)


def sign_in(visitor) -> Page:
    visitor.enter("/profile")
    visitor.page.wait_for_url(visitor.address + "/profile")
    return visitor.page


def test_refused_pictures_keep_their_place_and_come_later(order, one_renderer, visitor):
    context = sign_in(visitor).context
    change = f"{LIST}{order.pk}/change/"
    orders = f"/applications/{visitor.world.application.external_id}/orders"
    paths = [
        LIST,
        change,
        f"{LIST}{order.pk}/print-file/0/pages",
        f"{orders}/{order.pk}",
        "/catalog/associated",
    ]
    pages = []

    with RENDERINGS.slot("another caller"):
        for path in paths:
            # Pages in the background load no picture that is lazy.
            pages.append(page := context.new_page())
            page.goto(visitor.address + path)
            page.wait_for_function(IS_REFUSED)
            for picture, smallest in page.evaluate(PLACEHOLDERS):
                assert "picture" in picture, path
                assert smallest >= 24, path
            page.evaluate("window.isSame = true")

    for page in pages:
        page.bring_to_front()
        page.wait_for_function(ARE_DRAWN)
        assert page.evaluate("window.isSame")


def test_refused_picture_is_requested_after_the_time_it_says_and_not_for_ever(order, visitor):
    page, requested = sign_in(visitor), []

    def refuse(route: Route) -> None:
        requested.append(route.request.url)
        route.fulfill(status=503, headers={"Retry-After": "20"})

    page.route("**/print-file/**", refuse)
    page.clock.install()
    visitor.go(LIST)
    page.wait_for_function(IS_REFUSED)
    pictures = wait_for(lambda: page.evaluate(f"{PICTURES}.length") == len(requested) and len(requested))
    page.clock.run_for(2_000)
    wait_for(lambda: page.evaluate("1") and len(requested) == pictures + 1)
    page.clock.run_for(19_000)
    assert len(requested) == pictures + 1
    for _ in range(20):
        page.clock.run_for(20_000)
    assert pictures + 2 <= len(requested) <= pictures + 8
