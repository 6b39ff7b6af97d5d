"""What keeps a page from being used by its keyboard alone."""

from playwright.sync_api import Page

# Where Tab stops: nothing is drawn in another order than it is written, and each stop takes the focus and shows it.
# What has a pointer has to be a stop, to lie in one or around one, or to be the label of one.
FAULTS = """(within) => {
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


def keyboard_faults(page: Page, within: str = "") -> list[str]:
    found: list[str] = page.evaluate(FAULTS, within)
    return found
