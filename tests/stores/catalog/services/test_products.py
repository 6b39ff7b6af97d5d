import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from fulfillment.core.errors import Invalid
from printing.typesetting import load_template_folder
from stores.catalog.models import Product
from stores.catalog.services.products import archive_product, save_product
from tests.factories.stores import field_values, make_product, make_store, price_values, product_values
from tests.support.catalog.renderings import assert_renderings_fresh

TEMPLATE = Path("stores/demo/templates/postcard-4x6")

pytestmark = pytest.mark.django_db


@pytest.fixture
def store():
    return make_store()


def test_new_product_is_rendered_and_raises_the_catalog_version(store):
    product = make_product(store)

    changed = type(store).objects.get()
    assert (product.version, product.position) == (1, 0)
    assert (changed.catalog_version, changed.product_count) == (store.catalog_version + 1, 1)
    assert_renderings_fresh()


def test_saving_the_same_again_changes_nothing(store):
    values = product_values()
    product = save_product(store=store, values=values)
    before = type(store).objects.values().get()

    again = save_product(store=store, product=product, values=values)

    assert (again.pk, again.version, again.updated) == (product.pk, 1, product.updated)
    assert type(store).objects.values().get() == before
    assert again.events.count() == 1


def test_change_replaces_the_children_and_raises_the_version(store):
    values = product_values()
    product = save_product(store=store, values=values)

    values["DeliveredPrices"] = [price_values(Price=Decimal("99")), price_values(DeliveryMethodCode="AIR")]
    changed = save_product(store=store, product=product, values=values)

    prices = list(changed.delivered_prices.values_list("delivery_method_code", "price", "created"))
    assert changed.version == 2
    assert [(code, price) for code, price, _ in prices] == [("GROUND", Decimal(99)), ("AIR", Decimal("0.12"))]
    assert prices[0][2] == product.created
    assert prices[1][2] == changed.updated
    assert_renderings_fresh()


def test_template_alone_raises_the_version(store):
    fields = json.loads((TEMPLATE / "fields.json").read_text())
    values = product_values(TemplateFields=fields)
    product = save_product(store=store, values=values)
    template = load_template_folder(TEMPLATE)

    changed = save_product(store=store, product=product, values={**values, "Template": template})
    again = save_product(store=store, product=product, values={**values, "Template": template})

    assert (changed.version, again.version) == (2, 2)
    assert Product.objects.get().template == template


def test_moving_raises_no_version(store):
    values = product_values()
    product = save_product(store=store, values=values)

    moved = save_product(store=store, product=product, values=values, position=7)

    assert (moved.position, moved.version) == (7, 1)
    assert make_product(store).position == 8


def test_archived_product_leaves_the_catalog(store):
    product = archive_product(product=make_product(store))

    assert (product.is_active, product.version) == (False, 2)
    assert type(store).objects.get().product_count == 0
    assert archive_product(product=product).version == 2
    assert_renderings_fresh()


def test_price_date_given_is_kept(store):
    since = datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=UTC)

    product = make_product(store, DeliveredPrices=[price_values(Created="2024-02-29T13:00:00.123456+01:00")])

    assert product.delivered_prices.get().created == since
    assert '"Created":"2024-02-29T12:00:00.123456Z"' in product.rendering
    assert_renderings_fresh()


@pytest.mark.parametrize(
    ("values", "pointer", "code"),
    [
        ({"ID": "a b"}, "/ID", "malformed"),
        ({"ID": "taken"}, "/ID", "not_unique"),
        ({"Name": " "}, "/Name", "blank"),
        ({"Name": "x" * 201}, "/Name", "too_long"),
        ({"Description": "a\0b"}, "/Description", "nul_character"),
        ({"ImageURL": "ftp://x"}, "/ImageURL", "malformed"),
        ({"ImageURL": "//evil.example/x"}, "/ImageURL", "malformed"),
        ({"ImageURL": "/a b"}, "/ImageURL", "malformed"),
        ({"DefaultQty": 50}, "/DefaultQty", "quantities_unordered"),
        ({"MaximumQty": 400}, "/MaximumQty", "quantities_unordered"),
        ({"DefaultQty": "", "MaximumQty": 40}, "/MaximumQty", "quantities_unordered"),
        ({"MinimumQty": 0}, "/MinimumQty", "not_a_whole_number"),
        ({"IncrementQty": True}, "/IncrementQty", "not_a_whole_number"),
        ({"WidthMM": Decimal("0.0001")}, "/WidthMM", "not_a_size"),
        ({"HeightMM": Decimal("1e999999")}, "/HeightMM", "not_a_size"),
        ({"IsActive": "yes"}, "/IsActive", "not_a_flag"),
        ({"Color": 1}, "/Color", "unknown_field"),
        ({"TemplateFields": {}}, "/TemplateFields", "not_an_array"),
        ({"TemplateFields": [field_values(Type="Image")]}, "/TemplateFields/0/SubType", "unknown_value"),
        (
            {"TemplateFields": [field_values(Type="Choice", SubType="List")]},
            "/TemplateFields/0/Choices",
            "required",
        ),
        (
            {"TemplateFields": [field_values(Type="Choice", SubType="List", Choices=["a", "a"])]},
            "/TemplateFields/0/Choices/1",
            "repeated",
        ),
        ({"TemplateFields": [field_values(), field_values()]}, "/TemplateFields/1", "repeated"),
        ({"DeliveredPrices": [price_values(), price_values()]}, "/DeliveredPrices/1", "repeated"),
        (
            {"DeliveredPrices": [price_values(Price=Decimal("0.125"))]},
            "/DeliveredPrices/0/Price",
            "not_a_price",
        ),
        ({"DeliveredPrices": [price_values(Price=0)]}, "/DeliveredPrices/0/Price", "not_a_price"),
        ({"DeliveredPrices": [price_values(Price=0.5)]}, "/DeliveredPrices/0/Price", "not_a_price"),
        (
            {"DeliveredPrices": [price_values(CountryCode="USA")]},
            "/DeliveredPrices/0/CountryCode",
            "malformed",
        ),
        (
            {"DeliveredPrices": [price_values(Created="yesterday")]},
            "/DeliveredPrices/0/Created",
            "not_a_timestamp",
        ),
        (
            {"ProductionSpeeds": [{"Days": 1, "IsDefault": True}, {"Days": 2, "IsDefault": True}]},
            "/ProductionSpeeds/1/IsDefault",
            "repeated",
        ),
        ({"Template": {"Pages": 1}}, "/Template/Pages", "wrong_type"),
        ({"Template": {"x": float("nan")}}, "/Template", "template_not_storable"),
    ],
)
def test_broken_rule_is_named_and_nothing_is_written(store, values, pointer, code):
    make_product(store, ID="taken")

    with pytest.raises(Invalid) as raised:
        make_product(store, **values)

    assert (pointer, code) in [(fault.pointer, fault.code) for fault in raised.value.faults]
    assert Product.objects.count() == 1
