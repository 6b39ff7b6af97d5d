"""The template editor's picture follows every kind of change within 300 ms, on the demo's design that takes longest."""

import contextlib
import logging
import math
import statistics
from collections.abc import Callable

import pytest
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as NotInTime

from tests.factories.orders import make_design
from tests.support.cases import cases
from tests.support.patience import ROUNDS

pytestmark = pytest.mark.slow
logger = logging.getLogger(__name__)

LIVE = 300
CHANGES = cases(5, 40)
ARROWS = ("ArrowUp", "Alt+ArrowRight", "ArrowLeft", "ArrowDown", "ArrowRight")
# A round in which a picture does not come reaches no mark; in milliseconds.
GIVEN_UP = 20_000
# From the last event that changed something to the frame that shows the new picture, by the page's own clock.
NOTE_TIMES = """() => {
    const picture = document.querySelector(".ds-picture");
    let begun = 0;
    window.times = [];
    window.forget = () => { begun = window.times.length = 0; };
    for (const kind of ["keydown", "input", "pointermove"]) {
        addEventListener(kind, (event) => { if (!begun && window.awaited === kind) begun = performance.now(); }, true);
    }
    new MutationObserver(async () => {
        if (!begun) return;
        const since = begun;
        begun = 0;
        // Another picture in its place meanwhile ends the decoding of this one.
        while (!(await picture.decode().then(() => true, () => false))) await new Promise(requestAnimationFrame);
        requestAnimationFrame(() => window.times.push(performance.now() - since));
    }).observe(picture, { attributes: true, attributeFilter: ["src"] });
}"""


@pytest.fixture
def site(site):
    address, world = site
    world.product = make_design(world.associated, "photo-postcard-6x9")
    return address, world


def arrow_keys(page: Page, number: int) -> None:
    page.keyboard.press(ARROWS[number % len(ARROWS)])


def typing(page: Page, number: int) -> None:
    page.keyboard.type("aeiou"[number % 5])


def dragging(page: Page, number: int) -> None:
    across, down = page.middle
    step = number % 5 + 1
    page.mouse.move(across - 6 * step, down + 4 * step)


KINDS: dict[str, tuple[str, Callable[[Page, int], None]]] = {
    "arrow keys": ("keydown", arrow_keys),
    "typing": ("input", typing),
    "dragging": ("pointermove", dragging),
    "resizing": ("pointermove", dragging),
}


def begin(page: Page, kind: str) -> None:
    box = page.locator(".ds-box").nth(1)
    box.focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Space")
    if kind == "typing":
        page.locator("[data-name='sample:Title']").focus()
    elif kind != "arrow keys":
        held = (page.locator(".ds-se") if kind == "resizing" else box).bounding_box()
        page.middle = held["x"] + held["width"] / 2, held["y"] + held["height"] / 2
        page.mouse.move(*page.middle)
        page.mouse.down()


def median_of(page: Page, kind: str) -> float:
    """Each change is made when the picture of the one before is there: otherwise some would have none of their own."""
    awaited, change = KINDS[kind]
    begin(page, kind)
    page.evaluate("awaited => { window.awaited = awaited; window.forget(); }", awaited)
    is_followed = False
    with contextlib.suppress(NotInTime):
        for number in range(CHANGES):
            change(page, number)
            page.wait_for_function(
                "number => window.times.length === number", arg=number + 1, timeout=GIVEN_UP
            )
        is_followed = True
    page.evaluate("window.awaited = ''")
    page.mouse.up()
    times = sorted(page.evaluate("window.times")) if is_followed else [math.inf]
    p95 = times[math.ceil(0.95 * len(times)) - 1]
    logger.info("%s: p50 %.0f ms, p95 %.0f ms", kind, statistics.median(times), p95)
    return statistics.median(times)


def test_picture_follows_every_change_within_300_milliseconds(visitor):
    """The median of several changes of each kind; what else the machine does may spoil all rounds but one."""
    page = visitor.page
    path = f"/admin/stores/product/{visitor.world.product.pk}/template/"
    visitor.enter(path, "operator")
    page.wait_for_url(visitor.address + path)
    page.wait_for_selector(".ds[data-ready]")
    page.wait_for_function("() => document.querySelectorAll('.ds-box').length > 3")
    page.evaluate(NOTE_TIMES)
    medians: dict[str, list[float]] = {kind: [] for kind in KINDS}

    for kind, found in medians.items():
        while not found or (found[-1] > LIVE and len(found) < ROUNDS):
            found.append(median_of(page, kind))

    assert [kind for kind, found in medians.items() if min(found) > LIVE] == [], medians
    assert visitor.complaints == []
