"""How many actions and seconds a task takes in a browser. ACTIONS names a file for lines of docs/performance.md."""

import os
import time
from pathlib import Path

from playwright.sync_api import Page

# Clicks, choices from lists, and keys other than those that type text; kept in the tab, over every page of the task.
COUNT = """(() => {
    const typed = "select, textarea, input:not([type=checkbox], [type=radio])";
    const add = () => sessionStorage.setItem("actions", Number(sessionStorage.getItem("actions") || 0) + 1);
    addEventListener("click", (event) => event.isTrusted && event.detail > 0 && add(), true);
    addEventListener("change", (event) => event.target.matches(typed) && add(), true);
    addEventListener("keydown", (event) => {
        if (event.key !== "Tab" && (event.key.length > 1 || event.ctrlKey || event.metaKey)) add();
    }, true);
})()"""


class Actions:
    """From here until `note`. A field that is filled in counts as one action."""

    def __init__(self, page: Page, task: str) -> None:
        self.page, self.task = page, task
        page.add_init_script(COUNT)
        page.evaluate(COUNT)
        page.evaluate("sessionStorage.removeItem('actions')")
        self.started = time.perf_counter()

    def note(self) -> int:
        """How many there were."""
        seconds = time.perf_counter() - self.started
        count = int(self.page.evaluate("Number(sessionStorage.getItem('actions') || 0)"))
        if path := os.environ.get("ACTIONS"):
            with Path(path).open("a") as file:
                file.write(f"| {self.task} | {count} | {seconds:.1f} |\n")
        return count
