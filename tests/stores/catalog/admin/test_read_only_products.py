"""A product as staff see it who may not change it."""

import pytest

from stores.catalog.admin.product_forms import COLUMNS, UNTYPED
from stores.catalog.admin.products import READ_ONLY
from stores.catalog.models import Store
from stores.catalog.services.refresh import refresh_renderings
from tests.factories.orders import make_product
from tests.support.scenario import sign_in

pytestmark = pytest.mark.django_db


def test_product_is_read_with_its_fields_prices_and_speeds(world, client):
    product = make_product(world.associated)
    price = product.delivered_prices.first()
    price.description = "Pickup in Denver"
    price.save()
    sign_in(client, world.user)

    page = client.get(f"/admin/stores/product/{product.pk}/change/").content.decode()

    assert page.index("Size and quantities") < page.index("Paper and finishing") < page.index("Prices in")
    assert "Pickup in Denver" in page
    assert f">{price.price}<" in page
    assert "GROUND" not in page


def test_every_field_can_be_filled_in_and_read(world, client):
    listed = {column for _, section in READ_ONLY for column in section["fields"]}
    listed |= {"external_id", "name", "delivery_method"}  # As shown_name and usual_method.
    columns = {column for name, column in COLUMNS.items() if name not in UNTYPED}

    sign_in(client, world.operator)
    page = client.get("/admin/stores/product/add/").content.decode()

    assert columns <= listed
    assert [column for column in columns if f'name="{column}"' not in page] == []


def test_choices_of_a_store_are_named_as_its_form_names_them(world, client):
    Store.objects.filter(pk=world.associated.pk).update(
        budget_enabled=True, budget_types=["Amount", "Orders"], budget_durations=["Monthly"]
    )
    refresh_renderings()
    sign_in(client, world.user)

    page = client.get(f"/admin/stores/store/{world.associated.pk}/change/").content.decode()

    assert "Amount spent, Number of orders" in page
    assert "Every month" in page
