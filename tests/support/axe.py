"""What axe finds on the page that is open."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import BrowserContext, Page

# On many pages alike only what lies in the middle of them is new.
RUN = """(within) => axe
    .run(within ? { include: [[within]] } : document, { resultTypes: ["violations"], preload: false })
    .then(({violations}) => violations.flatMap(({id, impact, nodes}) =>
        nodes.map(({target, html}) => ({id, impact, where: target.join(" "), html}))))"""


def bring_axe(context: BrowserContext) -> None:
    """To every page that is loaded from now on; it is half a megabyte, and sent once."""
    context.add_init_script(AXE_SCRIPT)


def violations(page: Page, within: str = "") -> list[dict[str, Any]]:
    """By every rule that axe has, best practices as well; `within` is a selector."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(RUN, within)
    return found
