"""A print preset made in a browser, and chosen for a product, as an operator does it."""

import pytest
from playwright.sync_api import expect

from tests.factories.presets import other_profile
from tests.support.browser.console_forms import SIZES, choose, open_console
from tests.support.browser.visual_checks import shoot

pytestmark = pytest.mark.slow

WRONG = {"name": "letter.icc", "mimeType": "application/octet-stream", "buffer": b"no profile"}


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_profile_is_added_a_preset_created_and_a_product_prints_by_it(product_page, visitor):
    page = visitor.page
    open_console(visitor, "/admin/stores/outputprofile/add/")
    page.set_input_files("[name=file]", WRONG)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The file is not an ICC profile.").first).to_be_visible()
    profile = {"name": "paper.icc", "mimeType": "application/vnd.iccprofile", "buffer": other_profile()}
    page.set_input_files("[name=file]", profile)
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/outputprofile/*/change/")
    visitor.go("/admin/stores/outputprofile/")
    shoot(page, f"profiles-{page.viewport_size['width']}")

    visitor.go("/admin/stores/printpreset/add/")
    page.fill("[name=code]", "coated")
    page.fill("[name=name]", "Coated, CMYK")
    page.fill("[name=highest_ink]", "500")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("less than or equal to 400").first).to_be_visible()
    page.fill("[name=highest_ink]", "280")
    page.select_option("[name=profile]", label="ISO Coated v2 300% (basICColor)")
    page.get_by_text("checks, all as usual").click()
    page.locator("[name=severities-text_too_small]").select_option("Error")
    shoot(page, f"preset-new-{page.viewport_size['width']}")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/printpreset/*/change/")
    expect(page.locator("[name=severities-text_too_small]")).to_have_value("Error")
    visitor.go("/admin/stores/printpreset/")
    shoot(page, f"presets-{page.viewport_size['width']}")
    page.get_by_role("link", name="Coated, CMYK").first.click()
    expect(page.locator("[name=highest_ink]")).to_have_value("280")
    expect(page.locator("[name=code]")).to_have_count(0)
    expect(page.locator("[name=severities-text_too_small]")).to_have_value("Error")

    visitor.go(product_page)
    choose(page, "id_preset", "Coated, CMYK")
    shoot(page, f"product-preset-{page.viewport_size['width']}")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_load_state()
    visitor.go(product_page)
    expect(page.locator("[name=preset] option:checked")).to_have_text("Coated, CMYK")
    assert visitor.complaints == []
