"""Counts what a person does for a task in the console: clicks and keys but typing, and the seconds it takes.

`.venv/bin/python -m pytest -n 0 -s tests/browser/test_order_tasks.py` prints the table of docs/performance.md.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Locator, Page


@dataclass
class Person:
    """Each method is one action; typing into a field is one, however many letters."""

    page: Page
    actions: int = 0

    def click(self, target: Locator) -> None:
        self.actions += 1
        target.click()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.actions += 1
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Into the field that has the focus."""
        self.actions += 1
        self.page.keyboard.type(text)

    def fill(self, target: Locator, text: str) -> None:
        self.actions += 1
        target.fill(text)


@dataclass
class TaskCounts:
    rows: list[tuple[str, int, float]] = field(default_factory=list)

    @contextmanager
    def task(self, name: str, page: Page) -> Iterator[Person]:
        person, started = Person(page), time.perf_counter()
        yield person
        self.rows.append((name, person.actions, time.perf_counter() - started))

    def table(self) -> str:
        lines = ["| task | actions | seconds |", "|---|---|---|"]
        lines += [f"| {name} | {actions} | {seconds:.1f} |" for name, actions, seconds in self.rows]
        return "\n".join(lines)
