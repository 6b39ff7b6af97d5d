"""What axe finds on the page that is open."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# Every page at each width and in each scheme. Colours differ with the scheme alone, and are half of the work.
LOOKS = [(1280, "light", False), (1280, "dark", True), (390, "light", True), (390, "dark", False)]
RUN = """(options) => axe.run(options).then(({violations}) => violations.flatMap(({id, impact, nodes}) =>
    nodes.map(({target, html}) => ({id, impact, where: target.join(" "), html}))))"""
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}


def violations(page: Page, *, colours_only: bool = False) -> list[dict[str, Any]]:
    """By every rule that axe has, best practices as well."""
    if page.evaluate("typeof axe") == "undefined":
        page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"], **(COLOURS if colours_only else {})}
    found: list[dict[str, Any]] = page.evaluate(RUN, options)
    return found
