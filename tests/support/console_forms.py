"""Forms of the console as a person fills them in a browser."""

import pytest
from playwright.sync_api import Page

# A desk and a phone, where the second visit of the same pages is slow.
SIZES = [(1280, "light"), pytest.param((390, "dark"), marks=pytest.mark.slow)]


def open_console(visitor, path: str, name: str = "operator") -> None:
    visitor.go(f"/accounts/login/?next={path}")
    visitor.sign_in(name)
    visitor.page.wait_for_url(visitor.address + path)


def choose(page: Page, field: str, text: str) -> None:
    """In a box that searches while typing."""
    page.locator(f"#{field} + .select2 .select2-selection").click()
    page.locator(".select2-search__field").last.fill(text)
    page.locator(".select2-results__option", has_text=text).first.click()
