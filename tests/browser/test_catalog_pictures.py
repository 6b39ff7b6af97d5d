"""Products are told apart by their own proofs, which come without moving what is on the page."""

import pytest
from playwright.sync_api import expect

from tests.factories.orders import make_design

pytestmark = pytest.mark.slow

DESIGNS = ("business-card-standard", "business-card-square", "sticker-round-3in")
SHIFT = """() => new Promise((found) => { let sum = 0;
    new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
        .observe({ type: "layout-shift", buffered: true });
    setTimeout(() => found(sum), 300); })"""


@pytest.fixture
def site(site):
    for design in DESIGNS:
        make_design(site[1].demo, design)
    return site


@pytest.mark.parametrize("visitor", [(1280, "light"), (390, "dark")], indirect=True)
def test_tiles_show_a_picture_of_their_own_and_nothing_moves(visitor):
    page = visitor.page
    visitor.enter("/catalog/demo")
    tiles = page.locator(".tile-proof")
    expect(tiles).to_have_count(len(DESIGNS))
    for tile in tiles.all():
        tile.scroll_into_view_if_needed()
        expect(tile).not_to_have_js_property("naturalWidth", 0)
    assert len({page.request.get(tile.evaluate("(one) => one.src")).body() for tile in tiles.all()}) == len(
        DESIGNS
    )
    assert page.evaluate(SHIFT) <= 0.05
    assert visitor.complaints == []
