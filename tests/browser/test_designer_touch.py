"""The template designer by fingers: one drags a box, two zoom and move the sheet."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from stores.catalog.models import Product
from tests.factories.templates import field, make_card, page, text_box

pytestmark = pytest.mark.slow

BOXES = (text_box("Name", X=10, Y=10, Width=30, Height=8), text_box("Title", X=14, Y=26, Width=30, Height=6))


@pytest.fixture
def product(site) -> Product:
    fields = [field("Name", Required=True), field("Title")]
    return make_card(site[1].associated, "touched", TemplateFields=fields, Template={"Pages": [page(*BOXES)]})


class Fingers:
    def __init__(self, page: Page) -> None:
        self.session = page.context.new_cdp_session(page)
        self.session.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 5})

    def _send(self, kind: str, points: list[tuple[float, float]]) -> None:
        touches: list[dict[str, Any]] = [{"x": x, "y": y, "id": at} for at, (x, y) in enumerate(points)]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def move(self, *ways: tuple[tuple[float, float], tuple[float, float]], steps: int = 6) -> None:
        """Each finger from its place to another one, all together."""
        self._send("touchStart", [begin for begin, _ in ways])
        for step in range(1, steps + 1):
            share = step / steps
            self._send(
                "touchMove",
                [(x + (to_x - x) * share, y + (to_y - y) * share) for (x, y), (to_x, to_y) in ways],
            )
        self._send("touchEnd", [])


@pytest.mark.parametrize("visitor", [(390, "light")], indirect=True)
def test_fingers_drag_boxes_zoom_and_move_the_sheet(product, visitor):
    path = f"/admin/stores/product/{product.pk}/template/"
    visitor.enter(path, "operator")
    designer = visitor.page
    designer.wait_for_selector(".ds[data-ready]")
    designer.wait_for_selector(".ds-picture[src]")
    fingers = Fingers(designer)
    name = designer.locator(".ds-box").first
    sheet = designer.locator(".ds-sheet")
    view = designer.locator(".ds-viewport")
    name.scroll_into_view_if_needed()

    begun, place, seen = name.bounding_box(), sheet.bounding_box(), view.bounding_box()
    middle = begun["x"] + begun["width"] / 2, begun["y"] + begun["height"] / 2
    fingers.move((middle, (middle[0] + 30, middle[1] + 20)))
    moved = name.bounding_box()
    assert moved["x"] - begun["x"] == pytest.approx(30, abs=8)
    assert moved["y"] - begun["y"] == pytest.approx(20, abs=8)
    expect(name).to_have_attribute("aria-pressed", "true")

    left, top = place["x"] + 10, seen["y"] + seen["height"] / 2
    fingers.move(((left + 60, top), (left - 5, top)), ((left + 100, top), (left + 260, top)))
    zoomed = sheet.bounding_box()
    assert zoomed["width"] > 3 * place["width"]
    assert name.get_attribute("aria-label").startswith("Name, ")

    before = view.evaluate("one => [one.scrollLeft, one.scrollTop]")
    across = seen["x"] + seen["width"] / 2
    fingers.move(((across, top), (across - 60, top)), ((across + 40, top), (across - 20, top)))
    after = view.evaluate("one => [one.scrollLeft, one.scrollTop]")
    assert after[0] - before[0] == pytest.approx(60, abs=12)
    assert sheet.bounding_box()["width"] == pytest.approx(zoomed["width"], rel=0.05)

    designer.get_by_role("button", name="Undo").click()
    assert visitor.complaints == []
