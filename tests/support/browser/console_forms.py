"""Forms of the console as a person fills them in a browser."""

import re

import pytest
from playwright.sync_api import Page

# A desk, and a phone for `make looks`.
SIZES = [(1280, "light"), pytest.param((390, "dark"), marks=[pytest.mark.slow, pytest.mark.looks])]


def open_console(visitor, path: str, name: str = "operator") -> Page:
    visitor.enter(path, name)
    assert visitor.page.url == visitor.address + path
    return visitor.page


def choose(page: Page, field: str, text: str) -> None:
    """From the list of a select, or by typing where there are too many for one."""
    box = page.locator(f"#{field}")
    if box.get_attribute("role") == "combobox":
        box.fill(text)
        page.locator(f"#{field}-found [role=option]", has_text=text).first.click()
    else:
        box.select_option(box.locator("option", has_text=text).first.get_attribute("value"))


def ready(designer: Page) -> None:
    designer.wait_for_selector(".ds[data-ready]")
    designer.wait_for_selector(".ds-picture[src]")


BASICS = {
    "external_id": "mug",
    "name": "Mug",
    "width_mm": "80",
    "height_mm": "95",
    "minimum_quantity": "1",
    "default_quantity": "1",
    "maximum_quantity": "99",
}


def begin_product(page: Page) -> None:
    page.get_by_role("link", name="Add product").first.click()
    choose(page, "id_store", "associated")
    for name, value in BASICS.items():
        page.fill(f"[name={name}]", value)


def price_product(page: Page) -> None:
    """By the method of its first column, to two destinations, made in three days."""
    page.select_option("[data-part=country]", "US")
    page.locator("[data-part=price]").fill("7.5")
    page.get_by_role("button", name="Add a destination").click()
    page.locator("[data-part=price]").nth(1).fill("8")
    page.get_by_label(re.compile("^Default price: .+, United States, Commercial")).check()
    page.get_by_role("button", name="Add a speed").click()
    page.fill("[name=production_speeds-0-days]", "3")
