"""Tasks beside the day's orders, done as a person does them; what they take is counted."""

import json
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from playwright.sync_api import expect

from stores.catalog.models import Product
from stores.catalog.selectors.products import stored_product
from stores.catalog.services import uploads
from stores.catalog.services.imports import export_catalog
from stores.catalog.services.products import save_product
from tests.support.browser.console_fixtures import place_orders
from tests.support.browser.console_forms import open_console
from tests.support.browser.task_counts import TaskCounts
from tests.support.servers.queued_jobs import working

pytestmark = pytest.mark.slow


@pytest.fixture
def product(site) -> Product:
    place_orders(site[1])
    return Product.objects.get(external_id="card-two-sided")


@pytest.fixture
def catalog(product, tmp_path: Path) -> Path:
    """A file that renames the product; its price has just changed."""
    record = stored_product(product.pk).record
    prices = [{**price, "Price": Decimal("0.99")} for price in record["DeliveredPrices"]]
    save_product(store=product.store, product=product, values={**record, "DeliveredPrices": prices})
    whole = json.loads(b"".join(export_catalog(store_ids=[product.store.external_id])))
    for one in whole["Stores"][0]["Products"]:
        one["Name"] = f"New {one['Name']}"
    file = tmp_path / "spring.json"
    file.write_text(json.dumps(whole))
    return file


def test_tasks_beside_the_orders_take_few_actions(product, catalog, visitor):
    page, counts = visitor.page, TaskCounts()
    open_console(visitor, "/admin/")

    with counts.task("Accept one order", page) as person:
        person.click(page.get_by_role("link", name="Received").first)
        person.click(page.locator(".orders-link").first)
        person.click(page.get_by_role("button", name="Accept", exact=True))
        expect(page.locator(".order-title")).to_contain_text("Accepted")
    # Keys pressed before its script runs are lost.
    page.wait_for_load_state()
    with counts.task("Find a person by e-mail address", page) as person:
        person.press("Control+k")
        person.type("user@")
        expect(page.locator("#command li").first).to_contain_text("user@")
        person.press("Enter")
        page.wait_for_url("**/accounts/user/*/change/")
    with counts.task("Find out who changed the price of a product", page) as person:
        person.press("Control+k")
        person.type("card-two-sided")
        expect(page.locator("#command li").first).to_contain_text("card-two-sided")
        person.press("Enter")
        person.click(page.get_by_role("link", name="History").first)
        expect(page.locator(".trail section").first).to_contain_text("0.99")
    with counts.task("Read what happened in the last days, of all records", page) as person:
        person.click(page.get_by_role("link", name="Audit log"))
        expect(page.locator(".audit-entry").first).to_be_visible()
    with counts.task("Check and import a catalog", page) as person:
        person.click(page.get_by_role("link", name="Products", exact=True))
        person.click(page.get_by_role("link", name="Import a catalog").first)
        person.actions += 1
        page.set_input_files("input[type=file]", catalog)
        with working(uploads.TASK):
            person.click(page.get_by_role("button", name="Upload and check"))
            person.click(page.get_by_role("button", name="Import it now"))
            expect(page.get_by_role("heading", name="What was imported")).to_be_visible()
    with counts.task("Add a field with its box to a template", page) as person:
        visitor.go(f"/admin/stores/product/{product.pk}/template/")
        page.wait_for_selector(".ds[data-ready]")
        person.click(page.get_by_text("Add a field", exact=True))
        person.type("Slogan")
        person.click(page.get_by_role("button", name="Add the field and a box"))
        expect(page.locator(".ds-state")).to_have_text("Not saved yet")
        person.click(page.get_by_role("button", name="Save", exact=True))
        expect(page.locator(".ds-state")).to_have_text("Version 4")

    sys.stdout.write(f"\n{counts.table()}\n")
    assert {name: actions for name, actions, _ in counts.rows} == {
        "Accept one order": 3,
        "Find a person by e-mail address": 3,
        "Find out who changed the price of a product": 4,
        "Read what happened in the last days, of all records": 1,
        "Check and import a catalog": 5,
        "Add a field with its box to a template": 4,
    }
    assert visitor.complaints == []
