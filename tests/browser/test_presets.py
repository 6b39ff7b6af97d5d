"""A print preset made in a browser, and chosen for a product, as an operator does it."""

import pytest
from playwright.sync_api import expect

from stores.catalog.models import Product
from stores.presets.models import OutputProfile, PrintPreset
from tests.factories.presets import other_profile
from tests.support.console_fixtures import place_orders
from tests.support.console_forms import SIZES, choose, open_console
from tests.support.visual_checks import shoot

WRONG = {"name": "letter.icc", "mimeType": "application/octet-stream", "buffer": b"no profile"}


@pytest.mark.parametrize("visitor", SIZES, indirect=True)
def test_a_profile_is_added_a_preset_made_and_a_product_prints_by_it(visitor):
    place_orders(visitor.world)
    page = visitor.page
    page.set_default_timeout(10_000)
    open_console(visitor, "/admin/stores/outputprofile/add/")
    page.set_input_files("[name=file]", WRONG)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("The file is not an ICC profile.").first).to_be_visible()
    profile = {"name": "paper.icc", "mimeType": "application/vnd.iccprofile", "buffer": other_profile()}
    page.set_input_files("[name=file]", profile)
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/outputprofile/")
    shoot(page, f"profiles-{page.viewport_size['width']}")

    visitor.go("/admin/stores/printpreset/add/")
    page.fill("[name=code]", "coated")
    page.fill("[name=name]", "Coated, CMYK")
    page.fill("[name=highest_ink]", "500")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("less than or equal to 400").first).to_be_visible()
    page.fill("[name=highest_ink]", "280")
    page.select_option("[name=profile]", label="ISO Coated v2 300% (basICColor)")
    shoot(page, f"preset-new-{page.viewport_size['width']}")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/printpreset/")
    shoot(page, f"presets-{page.viewport_size['width']}")
    preset = PrintPreset.objects.get()
    assert (preset.code, preset.policy, preset.highest_ink) == ("coated", "CMYK", 280)
    assert preset.profile == OutputProfile.objects.get()

    product = Product.objects.get(external_id="card-two-sided")
    visitor.go(f"/admin/stores/product/{product.pk}/change/")
    choose_preset(page, "Coated, CMYK")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_load_state()
    product.refresh_from_db()
    assert product.preset_id == "coated"
    assert visitor.complaints == []


def choose_preset(page, name: str) -> None:
    if page.locator("select[name=preset]").evaluate(
        "one => one.classList.contains('select2-hidden-accessible')"
    ):
        choose(page, "id_preset", name)
    else:
        page.select_option("[name=preset]", label=name)
