import io
import json

import pytest

from fulfillment.errors import Invalid
from stores.models import Product
from stores.selectors.catalog import stored_product
from stores.services import templates
from stores.services.catalog_import import CatalogInvalid, import_catalog
from stores.services.products import save_product
from tests.factories.templates import field, make_card, page, text_box


def product(product_id, template):
    return {
        "ID": product_id,
        "Name": "Card",
        "DefaultQty": 100,
        "MinimumQty": 100,
        "MaximumQty": 1000,
        "DeliveryMethod": "GROUND",
        "WidthMM": 88.9,
        "HeightMM": 50.8,
        "TemplateFields": [field("Name")],
        "Template": template,
    }


def catalog(*products):
    store = {"StoreID": "harbor", "CompanyName": "Harbor Press", "Products": list(products)}
    document = {"Format": "store-fulfillment-catalog", "Version": 1, "Stores": [store]}
    return io.BytesIO(json.dumps(document).encode())


GOOD = {"Pages": [page(text_box("Name"))]}
BAD = {"Pages": [page(text_box("Nick", X="left"), text_box("Name", Font="Wingdings"))]}
POINTERS = ["/Pages/0/Boxes/0/Field", "/Pages/0/Boxes/0/X", "/Pages/0/Boxes/1/Font"]


def pointers(refusal):
    return sorted(fault.pointer for fault in refusal.value.faults)


def test_saving_a_product_names_each_fault_of_its_template(world):
    with pytest.raises(Invalid) as refusal:
        make_card(world.associated, Template=BAD)

    assert pointers(refusal) == [f"/Template{one}" for one in POINTERS]


def test_template_must_be_renderable(world):
    too_long = {**text_box("Name"), "Text": "far too long " * 30}
    del too_long["Field"]

    with pytest.raises(Invalid) as refusal:
        make_card(world.associated, Template={"Pages": [page(too_long)]})

    assert refusal.value.faults[0].code == "not_renderable"


def test_import_names_each_fault_and_keeps_nothing(db):
    with pytest.raises(CatalogInvalid) as refusal:
        import_catalog(source=catalog(product("one", GOOD), product("two", BAD), product("two", GOOD)))

    found = [f"/Stores/0/Products/1/Template{one}" for one in POINTERS]
    assert pointers(refusal) == [*found, "/Stores/0/Products/2/ID"]
    assert Product.objects.count() == 0


def test_import_judges_a_template_once_and_only_if_it_changed(db, monkeypatch):
    judged = []
    parse = templates.parse_template
    monkeypatch.setattr(templates, "parse_template", lambda *args: judged.append(args) or parse(*args))

    import_catalog(source=catalog(product("one", GOOD), product("two", GOOD), product("three", None)))
    assert len(judged) == 1

    import_catalog(source=catalog(product("one", GOOD), product("two", GOOD), product("three", None)))
    assert len(judged) == 1


def test_changing_something_else_does_not_judge_the_template_again(world, monkeypatch):
    saved = make_card(world.associated)
    monkeypatch.setattr(templates, "parse_template", lambda *args: pytest.fail("judged again"))

    record = stored_product(saved.pk).record
    saved = save_product(store=world.associated, product=saved, values={**record, "Name": "Other"})

    assert saved.version == 2
