"""One page looked at: what axe, the console and the widths say against it. SHOTS names a folder for its pictures."""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from zlib import crc32

from playwright.sync_api import Locator, Page

from tests.browser.conftest import Visitor
from tests.support.browser.axe import RUN, SCRIPT, bring_axe
from tests.support.patience import PATIENCE

Look = tuple[int, str]
# Both widths and both schemes; the same templates are seen by another person in the other pairs.
LOOKS: Sequence[Look] = [(1280, "light"), (390, "dark")]
OTHER_LOOKS: Sequence[Look] = [(1280, "dark"), (390, "light")]
# `make looks` sees each page in every look it is for; the suite sees it in one, which its name chooses.
IS_EVERY_LOOK = os.environ.get("LOOKS") == "all"
EVERY_IMPACT = frozenset({"minor", "moderate", "serious", "critical"})
SERIOUS = frozenset({"serious", "critical"})
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
# Of the console's lists, whose place scrolls sideways where they are wider.
LIST_OVERFLOW = """Math.max(0, ...[...document.querySelectorAll("#result_list")].map((list) =>
    list.scrollWidth - list.closest(".simplebar-content-wrapper, form").clientWidth))"""
# The browser itself reports every error response.
REFUSED = "Failed to load resource: the server responded with a status of {}"
SEND = """([path, sent]) => {
    const form = Object.assign(document.createElement("form"), { method: "post", action: path });
    const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
    for (const [name, value] of Object.entries({ csrfmiddlewaretoken: token, ...sent })) {
        form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    document.body.append(form);
    form.submit();
}"""
# Left empty, also where the browser would not send it.
SEND_EMPTY = """(form) => {
    for (const input of form.querySelectorAll("input[type=text], input[type=email], textarea")) input.value = "";
    form.noValidate = true;
    form.requestSubmit(form.querySelector("[type=submit], button:not([type])"));
}"""


# A name that the font of icons does not have is written out, several letters wide.
WRITTEN_OUT = """() => document.fonts.ready.then(() => [...document.querySelectorAll(".material-symbols-outlined")]
    .filter((one) => one.textContent.trim() && one.checkVisibility({ visibilityProperty: true }))
    .filter((one) => {
        const range = document.createRange();
        range.selectNodeContents(one);
        return range.getBoundingClientRect().width > 1.6 * parseFloat(getComputedStyle(one).fontSize);
    })
    .map((one) => one.textContent.trim()))"""


# What moves for a moment is looked at where it comes to rest; what moves for ever never does.
AT_REST = """() => Promise.race([
    new Promise((over) => setTimeout(over, 5000)),
    Promise.all([document.fonts.ready, ...document.getAnimations()
        .filter((one) => one.playState === "running" && Number.isFinite(one.effect?.getComputedTiming().endTime))
        .map((one) => one.finished.catch(() => undefined))]),
]).then(() => true)"""


def opened(visitor: Visitor, path: str, sent: Mapping[str, str] | None = None) -> int:
    """The status of the answer to a visit, or to a form sent from the page that is open."""
    if sent is None:
        return visitor.go(path)
    with visitor.page.expect_navigation() as navigation:
        visitor.page.evaluate(SEND, [path, sent])
    response = navigation.value
    assert response is not None
    return response.status


def faults_of(
    visitor: Visitor,
    name: str,
    open_it: Callable[[], int] | None = None,
    *,
    status: int = 200,
    looks: Sequence[Look] = LOOKS,
    impacts: frozenset[str] = EVERY_IMPACT,
    within: str = "",
) -> list[str]:
    """In one of the looks, by `make looks` in all of them. Loaded anew for each, so that what only goes wrong while
    loading there is heard; where `open_it` is None the page that is open is looked at as it is."""
    page, faults = visitor.page, []
    if not visitor.brings_axe:
        bring_axe(page)
        if open_it is None:
            page.evaluate(SCRIPT)
        visitor.brings_axe = True
    chosen = looks_at(name, looks)
    for width, scheme in chosen:
        _look(visitor, width, scheme)
        answered = status if open_it is None else open_it()
        where = f"{name} at {width}, {scheme}"
        if answered != status:
            faults.append(f"{where}: answered {answered}")
        is_first = (width, scheme) == chosen[0]
        faults += [f"{where}: {fault}" for fault in _faults_now(page, impacts, within, by_keyboard=is_first)]
        faults += [f"{where}: {said}" for said in visitor.complaints if not _is_of(said, status)]
        visitor.complaints.clear()
        shoot(page, f"{name}-{width}-{scheme}")
    return faults


def looks_at(name: str, looks: Sequence[Look]) -> Sequence[Look]:
    return looks if IS_EVERY_LOOK else [looks[crc32(name.encode()) % len(looks)]]


def _look(visitor: Visitor, width: int, scheme: str) -> None:
    """Set only where it is another one: the page that is open is laid out anew for it, and then left."""
    page = visitor.page
    if page.viewport_size != (size := {"width": width, "height": 844}):
        page.set_viewport_size(size)  # type: ignore[arg-type]
    if visitor.scheme != scheme:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        visitor.scheme = scheme


def shoot(page: Page, name: str) -> None:
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=Path(folder, re.sub(r"[^\w.-]+", "_", name) + ".png"), full_page=True)


def _faults_now(page: Page, impacts: frozenset[str], within: str, *, by_keyboard: bool) -> list[str]:
    violations, icons, too_wide, of_keyboard = page.evaluate(FAULTS, [within, sorted(impacts), by_keyboard])
    faults = [
        f"{violation['id']}: {violation['where']}"
        for violation in violations
        if violation["impact"] in impacts or violation["isRequired"]
    ]
    faults += [f"no icon {name}" for name in icons]
    faults += [f"{what} {overflow} pixels too wide" for what, overflow in too_wide.items() if overflow > 0]
    return faults + of_keyboard


def _is_of(said: str, status: int) -> bool:
    return status >= 400 and said.startswith(REFUSED.format(status))


# Where Tab stops: nothing is drawn in another order than it is written, and each stop takes the focus and shows it.
# What has a pointer has to be a stop, to lie in one or around one, or to be the label of one.
KEYBOARD_FAULTS = """(within) => {
    const STOPS = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
    // Unfold draws its save buttons from the right, the main one first, and orders its links beside a field. The bar of
    // the portal has two rows where it is narrow, and the account in the upper one.
    const KNOWN = "#submit-row, .related-widget-wrapper-link, .datetimeshortcuts, .bar-inner";
    const name = (one) => one.outerHTML.slice(0, 120).replace(/\\s+/g, " ");
    const root = (within && document.querySelector(within)) || document.body;
    const seen = (one) => one.checkVisibility({ checkVisibilityCSS: true, checkOpacity: false });
    const stops = [...root.querySelectorAll(STOPS)].filter((one) => one.tabIndex >= 0 && !one.disabled && seen(one));
    const found = stops.filter((one) => one.tabIndex > 0).map((one) => `another order: ${name(one)}`);
    const LOOK = ["outline", "boxShadow", "borderColor", "backgroundColor", "color"];
    const style = (one) => LOOK.map((part) => getComputedStyle(one)[part]).join();
    const before = document.activeElement;
    for (const one of stops) {
        const parts = () => [one, one.parentElement, ...one.children].map(style).join();
        if (document.activeElement !== document.body) document.activeElement.blur();
        const rest = parts();
        one.focus({ focusVisible: true, preventScroll: true });
        if (document.activeElement !== one) found.push(`takes no focus: ${name(one)}`);
        else if (parts() === rest) found.push(`does not show its focus: ${name(one)}`);
    }
    document.activeElement.blur();
    before.focus?.({ preventScroll: true });
    for (const one of root.querySelectorAll("*")) {
        const shown = getComputedStyle(one);
        const holds = one.matches(STOPS) || one.querySelector(STOPS);
        if (one.closest(KNOWN)) continue;
        if (holds && shown.order !== "0") found.push(`another order: ${name(one)}`);
        if (holds && shown.display.includes("flex") && shown.flexDirection.endsWith("reverse")) {
            found.push(`turned around: ${name(one)}`);
        }
        const starts = shown.cursor === "pointer" && getComputedStyle(one.parentElement).cursor !== "pointer";
        const isNoStop = !one.closest(`${STOPS}, label`) && !one.querySelector(STOPS);
        if (starts && isNoStop && seen(one)) found.push(`for a pointer only: ${name(one)}`);
    }
    return found;
}"""
# All of it at once: each question goes through three processes to the page, and its answer back.
FAULTS = f"""async ([within, impacts, byKeyboard]) => {{
    await ({AT_REST})();
    return [
        await ({RUN})(within, impacts),
        await ({WRITTEN_OUT})(),
        {{ page: {OVERFLOW}, list: {LIST_OVERFLOW} }},
        byKeyboard ? ({KEYBOARD_FAULTS})(within) : [],
    ];
}}"""


def box_of(locator: Locator) -> dict[str, float]:
    """Where it is drawn; while the page draws it again it is nowhere for a moment."""
    deadline = time.monotonic() + PATIENCE
    while (box := locator.bounding_box()) is None:
        assert time.monotonic() < deadline, f"{locator} is drawn nowhere"
    return dict(box)
