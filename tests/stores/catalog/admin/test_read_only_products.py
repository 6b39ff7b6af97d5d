"""A product as staff see it who may not change it."""

import pytest

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


def test_choices_of_a_store_are_named_as_its_form_names_them(world, client):
    Store.objects.filter(pk=world.associated.pk).update(
        budget_enabled=True, budget_types=["Amount", "Orders"], budget_durations=["Monthly"]
    )
    refresh_renderings()
    sign_in(client, world.user)

    page = client.get(f"/admin/stores/store/{world.associated.pk}/change/").content.decode()

    assert "Amount spent, Number of orders" in page
    assert "Every month" in page
