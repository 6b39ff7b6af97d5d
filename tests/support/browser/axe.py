"""What axe finds on the page that is open."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# On many pages alike only what lies in the middle of them is new. Axe itself leaves out the size of targets (WCAG 2.2,
# 2.5.8); pages of the console have it. Boxes of a template are as large as they are printed, with a form beside them.
# Where only some impacts count, rules of others are not asked: a tenth of the time.
RUN = """(within, impacts) => {
    // By a rule of WCAG 2.2, levels A and AA, regardless of the impact that axe assigns.
    const isRequired = ({ tags }) => tags.some((tag) => /^wcag2[0-9]?a{1,2}$/.test(tag));
    const isUnheard = (rule) => rule.impact && impacts && !impacts.includes(rule.impact) && !isRequired(rule);
    const isConsole = document.getElementById("console-main") !== null;
    const rules = axe._audit.rules.filter(isUnheard).map(({ id }) => [id, { enabled: false }]);
    return axe
        .run(within ? { include: [[within]] } : document, {
            resultTypes: ["violations"], preload: false,
            rules: { ...Object.fromEntries(rules), "target-size": { enabled: isConsole } },
        })
        .then(({violations}) => violations.flatMap((rule) =>
            rule.nodes.map(({target, html}) => ({
                id: rule.id, impact: rule.impact, where: target.join(" "), html, isRequired: isRequired(rule),
            }))))
        .then((found) => found.filter(({id, html}) => id !== "target-size" || !html.includes("ds-box")));
}"""

# Axe reads each color of each element behind a text anew, a quarter of its time; all pages together have some dozens.
READ_COLORS_ONCE = """;(() => {
    const color = axe.commons.color.Color.prototype, read = color.parseString, known = new Map();
    color.parseString = function (text) {
        if (!known.has(text)) {
            read.call(this, text);
            known.set(text, { r: this.r, g: this.g, b: this.b, alpha: this.alpha });
        }
        return Object.assign(this, known.get(text));
    };
})();"""
SCRIPT = AXE_SCRIPT + READ_COLORS_ONCE


def bring_axe(page: Page) -> None:
    """To every address that the page loads from now on; it is half a megabyte, and sent once."""
    page.add_init_script(SCRIPT)


def violations(page: Page, within: str = "") -> list[dict[str, Any]]:
    """By every rule that axe has, best practices as well; `within` is a selector."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(SCRIPT)
    faults: list[dict[str, Any]] = page.evaluate(RUN, within)
    return faults
