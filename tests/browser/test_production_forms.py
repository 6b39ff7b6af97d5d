"""Providers and routing rules, set up in a browser as an operator does it."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from stores.orders.models import Order
from tests.factories.production import make_provider
from tests.support.browser.axe import violations
from tests.support.browser.console_fixtures import place_orders
from tests.support.browser.console_forms import SIZES, choose, open_console
from tests.support.browser.visual_checks import shoot

pytestmark = pytest.mark.slow
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"


@pytest.fixture
def hot_folder(site, settings, tmp_path) -> Path:
    settings.PRODUCTION_FOLDERS = [tmp_path]
    folder = tmp_path / "harbor" / "in"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def order_number(site, settings, tmp_path) -> int:
    """Of an order of 100 cards to the United States, where one provider can be chosen."""
    settings.PRODUCTION_FOLDERS = [tmp_path]
    make_provider(tmp_path)
    place_orders(site[1])
    return Order.objects.earliest("number").number


def save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()


def look(page: Page, name: str) -> None:
    shoot(page, f"{name}-{page.viewport_size['width']}")
    assert page.evaluate(OVERFLOW) <= 0
    assert [one["where"] for one in violations(page) if one["isRequired"]] == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_a_hot_folder_is_set_up_corrected_and_tested(hot_folder, visitor):
    page = visitor.page
    open_console(visitor, "/admin/production/provider/")
    page.get_by_role("link", name="Add provider").first.click()
    page.get_by_role("link", name="Set up Hot folder").click()
    page.fill("[name=name]", "Harbor press")
    page.fill("[name=code]", "Harbor Press")
    page.fill("[name=setting_folder]", "press/in")
    page.fill("[name=setting_name_pattern]", "{order}")
    save(page)

    problems = page.locator("#form-problems")
    expect(problems).to_contain_text("Please correct 3 errors")
    expect(problems).to_contain_text("Code: Use 1 to 40 small letters, digits and - only.")
    expect(problems).to_contain_text("Hot folder: Enter the full path, such as /srv/press/in.")
    expect(problems).to_contain_text("Include {number}")
    look(page, "provider-refused")
    expect(page.locator("[name=name]")).to_have_value("Harbor press")
    page.fill("[name=code]", "harbor")
    page.fill("[name=setting_name_pattern]", "{number}")
    page.fill("[name=setting_folder]", str(hot_folder.parents[2] / "elsewhere"))
    save(page)
    expect(problems).to_contain_text("is outside of the folders of PRODUCTION_FOLDERS")
    page.fill("[name=setting_folder]", str(hot_folder))
    page.fill("[name=daily_capacity]", "40")
    page.select_option("[name=setting_tickets]", label="JSON")
    save(page)

    expect(page.get_by_text("was added successfully")).to_be_visible()
    expect(page.locator("[name=setting_folder]")).to_have_value(str(hot_folder))
    expect(page.locator("[name=setting_tickets] option:checked")).to_have_text("JSON")
    expect(page.get_by_text("Nothing sent yet.")).to_be_visible()
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text("Files can be written to")).to_be_visible()
    expect(page.get_by_text("Last response")).to_be_visible()
    look(page, "provider")
    visitor.go("/admin/production/provider/")
    expect(page.locator("#result_list")).to_contain_text("Harbor press")
    expect(page.locator("#result_list")).to_contain_text("40")
    assert visitor.complaints == []


def test_a_password_of_a_provider_is_kept_and_not_shown(site, visitor):
    page = visitor.page
    open_console(visitor, "/admin/production/provider/add/?adapter=sftp")
    page.fill("[name=name]", "Shop")
    page.fill("[name=code]", "shop")
    page.fill("[name=setting_host]", "sftp.example.com")
    page.fill("[name=setting_host_key]", "no key")
    page.fill("[name=setting_username]", "press")
    page.fill("[name=setting_folder]", "/in")
    page.fill("[name=setting_port]", "70000")
    page.fill("[name=setting_password]", "quiet-otter")
    save(page)
    problems = page.locator("#form-problems")
    expect(problems).to_contain_text("Host key:")
    expect(problems).to_contain_text("Port: It must lie between 1 and 65535.")
    page.fill("[name=setting_host_key]", "SHA256:" + "A" * 43)
    page.fill("[name=setting_port]", "2222")
    page.fill("[name=setting_password]", "quiet-otter")
    save(page)

    expect(page.get_by_text("was added successfully")).to_be_visible()
    expect(page.locator("[name=setting_port]")).to_have_value("2222")
    expect(page.locator("[name=setting_password]")).to_have_value("")
    expect(page.get_by_text("A value is stored; leave empty to keep it.")).to_be_visible()
    page.fill("[name=name]", "Shop by the river")
    save(page)
    expect(page.get_by_text("was changed successfully")).to_be_visible()
    expect(page.get_by_text("A value is stored; leave empty to keep it.")).to_be_visible()
    assert visitor.complaints == []


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_a_routing_rule_is_set_up_corrected_and_tried(order_number, visitor):
    page = visitor.page
    open_console(visitor, "/admin/production/routingrule/")
    page.get_by_role("link", name="Add routing rule").first.click()
    page.fill("[name=name]", "Cards of North America")
    page.fill("[name=countries]", "us UK")
    page.fill("[name=minimum_quantity]", "500")
    page.fill("[name=maximum_quantity]", "100")
    choose(page, "id_store", "associated")
    page.select_option("[name=choices-0-provider]", label="Press")
    save(page)

    problems = page.locator("#form-problems")
    expect(problems).to_contain_text("UK is not a country code. Use two letters, such as US, CA or GB.")
    expect(problems).to_contain_text("Maximum quantity is below minimum quantity.")
    look(page, "rule-refused")
    page.fill("[name=countries]", "us, ca")
    page.fill("[name=minimum_quantity]", "50")
    save(page)

    expect(page.get_by_text("was added successfully")).to_be_visible()
    expect(page.locator("[name=countries]")).to_have_value("US, CA")
    expect(page.locator("[name=choices-0-provider] option:checked")).to_have_text("Press")
    look(page, "rule")
    visitor.go("/admin/production/routingrule/")
    listed = page.locator("#result_list")
    expect(listed).to_contain_text("US, CA · from 50 · up to 100")
    expect(listed).to_contain_text("Press (1)")
    page.get_by_role("link", name="Rule tester").click()
    page.get_by_label("Order number").fill("1")
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_text("No order has the number 1.")).to_be_visible()
    page.get_by_label("Order number").fill(str(order_number))
    page.get_by_role("button", name="Test", exact=True).click()
    expect(page.get_by_role("heading", name="→ Press")).to_be_visible()
    look(page, "rule-tester")
    assert visitor.complaints == []
