"""One table says what fields stores and products have: everything else follows from it."""

import json

import pytest

from fulfillment.core.api.schema import schema_document
from stores.catalog import representations
from stores.catalog.admin.product_forms import UNTYPED, ProductForm
from stores.catalog.admin.product_sections import PAPER
from stores.catalog.api import examples
from stores.catalog.api.serializers import ProductSerializer, RecordSerializer
from stores.catalog.models import Product, Store
from stores.catalog.models.product import FINISHING_COLUMNS
from stores.catalog.records import field_specs, record_checks
from stores.catalog.records.field_specs import REQUIRED, FieldSpec
from stores.catalog.records.record_checks import check_product
from stores.catalog.records.value_checks import flag

SHINY = FieldSpec("IsShiny", flag, False, "is_active", "flag", verbose=True, example=True)


@pytest.mark.parametrize(
    ("specs", "model"), [(field_specs.STORE_FIELDS, Store), (field_specs.PRODUCT_FIELDS, Product)]
)
def test_every_field_has_a_column_of_its_model(specs, model):
    columns = {field.column for field in model._meta.concrete_fields}

    assert {spec.column for spec in specs if spec.column} <= columns


def test_order_items_keep_the_paper_of_the_form():
    weighed = {"piece_weight_g", "thickness_mm"}

    assert set(FINISHING_COLUMNS) == {*PAPER, "is_one_sided"} - weighed


def test_examples_have_the_fields_of_the_schema():
    schemas = schema_document()["components"]["schemas"]

    assert examples.VERBOSE_STORE.keys() == schemas["Store"]["properties"].keys()
    assert examples.VERBOSE_PRODUCT.keys() == schemas["Product"]["properties"].keys()


def test_console_form_has_every_stored_field():
    stored = {spec.column for spec in field_specs.STORED_PRODUCT_FIELDS if spec.name not in UNTYPED}

    assert {"preset" if column == "preset_id" else column for column in stored} <= set(
        ProductForm.Meta.fields
    )


def test_a_new_field_is_checked_shown_and_described_by_its_row_alone(monkeypatch):
    monkeypatch.setattr(record_checks, "STORED_PRODUCT_FIELDS", (*field_specs.STORED_PRODUCT_FIELDS, SHINY))
    monkeypatch.setattr(representations, "PRODUCT_FIELDS", (*field_specs.PRODUCT_FIELDS, SHINY))
    required = {
        spec.name: spec.example for spec in field_specs.STORED_PRODUCT_FIELDS if spec.default is REQUIRED
    }
    required |= {"WidthMM": 90, "HeightMM": 50}
    times = dict.fromkeys(("created", "updated"), Product().created)

    record, faults = check_product({**required, "IsShiny": True})
    _, wrong = check_product({**required, "IsShiny": "yes"})
    _, verbose = representations.render_product(record, currency="USD", **times)

    class Shiny(RecordSerializer):
        specs = (SHINY,)

    assert faults == []
    assert [(fault.pointer, fault.code) for fault in wrong] == [("/IsShiny", "not_a_flag")]
    assert json.loads(verbose)["IsShiny"] is True
    assert Shiny().get_fields().keys() == {"IsShiny"}
    assert "IsShiny" not in ProductSerializer().get_fields()
