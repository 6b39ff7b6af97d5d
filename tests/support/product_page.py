"""The steps by which a person makes a product in the console."""

import re

from playwright.sync_api import Page

from tests.support.console_forms import choose

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
