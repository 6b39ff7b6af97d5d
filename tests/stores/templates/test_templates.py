import io
import json
import pkgutil
from pathlib import Path

import pytest

import printing
from fulfillment.core.errors import Invalid
from stores.catalog.models import Product
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.imports import CatalogInvalid, import_catalog
from stores.catalog.services.products import save_product
from stores.templates import services as templates
from stores.templates.selectors import engine_files
from tests.factories.templates import field, make_card, page, text_box


def test_stored_proofs_follow_each_file_of_the_engine():
    names = {
        module.name for module in pkgutil.walk_packages(printing.__path__, "printing.") if not module.ispkg
    }
    files = {path.relative_to(Path(printing.__path__[0]).parent).with_suffix("") for path in engine_files()}

    assert names <= {".".join(path.parts) for path in files}


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

    assert pointers(refusal) == [f"/Template{pointer}" for pointer in POINTERS]


def test_template_must_be_renderable(world):
    too_long = {**text_box("Name"), "Text": "far too long " * 30}
    del too_long["Field"]

    with pytest.raises(Invalid) as refusal:
        make_card(world.associated, Template={"Pages": [page(too_long)]})

    assert refusal.value.faults[0].code == "not_renderable"


def test_import_names_each_fault_and_keeps_nothing(db):
    with pytest.raises(CatalogInvalid) as refusal:
        import_catalog(source=catalog(product("one", GOOD), product("two", BAD), product("two", GOOD)))

    expected = [f"/Stores/0/Products/1/Template{pointer}" for pointer in POINTERS]
    assert pointers(refusal) == [*expected, "/Stores/0/Products/2/ID"]
    assert Product.objects.count() == 0


def test_import_checks_a_template_once_and_only_if_it_changed(db, monkeypatch):
    parsed = []
    parse = templates.parse_template
    monkeypatch.setattr(templates, "parse_template", lambda *args: parsed.append(args) or parse(*args))

    import_catalog(source=catalog(product("one", GOOD), product("two", GOOD), product("three", None)))
    assert len(parsed) == 1

    import_catalog(source=catalog(product("one", GOOD), product("two", GOOD), product("three", None)))
    assert len(parsed) == 1


def test_changing_something_else_does_not_check_the_template_again(world, monkeypatch):
    saved = make_card(world.associated)
    monkeypatch.setattr(templates, "parse_template", lambda *args: pytest.fail("parsed again"))

    record = stored_product(saved.pk).record
    saved = save_product(store=world.associated, product=saved, values={**record, "Name": "Other"})

    assert saved.version == 2


@pytest.mark.parametrize("member", ["DefaultValue", "OrgValue"])
@pytest.mark.parametrize(
    ("changes", "value", "code"),
    [
        ({"SubType": "Email"}, "not-an-email", "not_a_email"),
        ({"SubType": "Date"}, "tomorrow", "not_a_date"),
        ({}, "two\nlines", "line_break"),
        ({}, "far too long " * 30, "does_not_fit"),
        ({}, "\ue000", "character_not_printable"),
        ({"Type": "Image", "SubType": "Gallery"}, "Barn", "unknown_picture"),
        ({"Type": "Image", "SubType": "Upload"}, "Barn", "unknown_picture"),
    ],
)
def test_placeholder_values_are_validated_like_customer_values(world, member, changes, value, code):
    entry = field("Other", **changes, **{member: value})
    kind = {"Kind": "Image"} if "Type" in changes else {"Size": 12}
    box = {"Field": "Other", "X": 5, "Y": 5, "Width": 60, "Height": 8, "Kind": "Text", **kind}

    with pytest.raises(Invalid) as refusal:
        make_card(world.associated, TemplateFields=[field("Name"), entry], Template={"Pages": [page(box)]})

    [fault] = refusal.value.faults
    assert (fault.pointer, fault.code) == (f"/TemplateFields/1/{member}", code)
    assert fault.message.startswith(f"{member}: ")


def test_placeholder_of_a_product_without_a_template_is_checked(world):
    entry = field("Mail", SubType="Email", DefaultValue="nobody")

    with pytest.raises(Invalid) as refusal:
        make_card(world.associated, TemplateFields=[entry], Template=None)
    assert pointers(refusal) == ["/TemplateFields/0/DefaultValue"]


def test_valid_placeholders_are_accepted(world):
    fields = [
        field("Name", Required=True, DefaultValue="Ada", OrgValue="Lovelace"),
        field("Mail", SubType="Email", OrgValue="ada@engine.example"),
        field("Photo", Type="Image", SubType="Upload", DefaultValue="8d5a6e0e-3a52-4b8c-9a35-2f1c9b7d4e10"),
    ]
    photo = {"Field": "Photo", "Kind": "Image", "X": 5, "Y": 5, "Width": 20, "Height": 20}

    saved = make_card(
        world.associated, TemplateFields=fields, Template={"Pages": [page(text_box("Name"), photo)]}
    )

    assert saved.version == 1


def test_import_names_a_placeholder_that_cannot_be_ordered(db):
    bad = {**product("one", GOOD), "TemplateFields": [field("Name", SubType="Date", OrgValue="tomorrow")]}

    with pytest.raises(CatalogInvalid) as refusal:
        import_catalog(source=catalog(bad))

    assert pointers(refusal) == ["/Stores/0/Products/0/TemplateFields/0/OrgValue"]
