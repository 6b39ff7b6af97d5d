import gzip

import pytest

from stores.catalog.models import Product
from stores.catalog.services.products import archive_product, save_product
from tests.factories.stores import make_product, product_values
from tests.factories.templates import field, make_card, page, text_box
from tests.support.catalog.renderings import assert_renderings_fresh

PLAIN = [
    "ID",
    "APIKey",
    "DefaultQty",
    "MinimumQty",
    "MaximumQty",
    "IncrementQty",
    "Name",
    "Description",
    "ImageURL",
    "HasTemplate",
    "DeliveryMethod",
    "ShippingMethod",
    "TemplateFields",
    "DeliveredPrices",
    "ProductionSpeeds",
]
VERBOSE = [
    "Category",
    "Currency",
    "PageCount",
    "WidthMM",
    "HeightMM",
    "IsEddm",
    "TakesArtwork",
    "Created",
    "Updated",
]
LIST = "/store/associated/product"


@pytest.fixture
def product(world):
    return make_product(world.associated, ID="card")


def test_list_shows_the_products_of_the_contract(world, product):
    response = world.as_application().call("GET", LIST)

    [shown] = response.json()
    assert list(shown) == PLAIN
    assert shown["ImageURL"] == "http://127.0.0.1:8000/static/catalog/postcard.svg"
    assert shown["HasTemplate"] is True
    assert shown["DeliveryMethod"] == shown["ShippingMethod"] == "GROUND"
    assert shown["TemplateFields"] == [
        {
            "Required": False,
            "Type": "Text",
            "SubType": "SingleLine",
            "FieldName": "Headline",
            "Prompt": "Headline",
            "DefaultValue": "",
            "OrgValue": "",
            "Choices": [],
        }
    ]
    created = product.created.isoformat().replace("+00:00", "Z")
    assert shown["DeliveredPrices"][0] == {
        "DeliveryMethodCode": "GROUND",
        "Description": "Ground",
        "Price": 0.12,
        "Country": "United States",
        "CountryCode": "US",
        "Created": created,
        "LocationType": "Commercial",
        "IsDefault": True,
    }
    assert shown["ProductionSpeeds"] == [{"Days": 3, "IsDefault": True}, {"Days": 1, "IsDefault": False}]


def test_verbose_adds_members(world, product):
    [shown] = world.as_application().call("GET", f"{LIST}?verbose=true").json()

    assert list(shown) == PLAIN + VERBOSE
    assert (shown["Currency"], shown["WidthMM"], shown["PageCount"]) == ("USD", 152.4, 2)


@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_two_queries(world, count, django_assert_num_queries):
    for _ in range(count):
        make_product(world.associated)
    client = world.as_application()

    with django_assert_num_queries(2):
        products = client.call("GET", LIST).json()

    assert len(products) == count


def test_detail_takes_two_queries(world, product, django_assert_num_queries):
    client = world.as_application()

    with django_assert_num_queries(2):
        response = client.call("GET", f"{LIST}/card")

    assert response.json() == client.call("GET", LIST).json()[0]
    assert list(client.call("GET", f"{LIST}/card?verbose=true").json()) == PLAIN + VERBOSE


def test_empty_catalog_is_an_empty_array(world):
    assert world.as_application().call("GET", LIST).content == b"[]"


def test_products_come_in_the_order_of_the_catalog(world):
    for name in ("b", "a", "c"):
        make_product(world.associated, ID=name)
    values = product_values(ID="c")
    save_product(
        store=world.associated, product=Product.objects.get(external_id="c"), values=values, position=0
    )

    assert [p["ID"] for p in world.as_application().call("GET", LIST).json()] == ["b", "c", "a"]


def test_archived_product_is_not_shown(world, product):
    archive_product(product=product)
    client = world.as_application()

    assert client.call("GET", LIST).json() == []
    assert client.call("GET", f"{LIST}/card").status_code == 404


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/store/nothing/product", 400, "store_invalid"),
        ("/store/nothing/product/card", 400, "store_invalid"),
        ("/store/unassociated/product", 403, "association_required"),
        ("/store/unassociated/product/card", 403, "association_required"),
        ("/store/associated/product/nothing", 404, "product_not_found"),
        ("/store/associated/product?verbose=2", 400, "parameter_invalid"),
    ],
)
def test_refusals(world, path, status, code):
    response = world.as_application().call("GET", path)

    assert (response.status_code, response.json()["Code"]) == (status, code)
    assert response.json()["_meta"]["Messages"]


def test_refusal_says_how_to_ask(world):
    detail = world.as_application().call("GET", "/store/unassociated/product").json()["detail"]

    assert "POST /api/v1/association" in detail
    assert '{"StoreID": "unassociated"}' in detail


def test_unchanged_list_is_answered_without_a_body(world, product, django_assert_num_queries):
    client = world.as_application()
    first = client.call("GET", LIST)

    with django_assert_num_queries(2):
        again = client.call("GET", LIST, headers={"If-None-Match": first["ETag"]})
    make_product(world.associated)
    changed = client.call("GET", LIST, headers={"If-None-Match": first["ETag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert (changed.status_code, len(changed.json())) == (200, 2)
    assert changed["ETag"] != first["ETag"]


def test_tag_grants_no_access(world, product):
    tag = world.as_application().call("GET", LIST)["ETag"]

    refused = world.as_application(world.other_application).call("GET", LIST, headers={"If-None-Match": tag})

    assert refused.status_code == 403


def test_list_is_compressed_for_clients_that_take_it(world, product):
    make_product(world.associated)
    client = world.as_application()
    plain = client.call("GET", LIST)
    packed = client.call("GET", LIST, headers={"Accept-Encoding": "gzip"})

    assert packed["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert packed["Vary"] == "Accept-Encoding"
    assert packed["ETag"] == plain["ETag"]


def test_fields_say_what_may_be_chosen(world):
    picture = {
        "MediaType": "image/svg+xml",
        "Data": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>',
    }
    fields = [
        field("Paper", Type="Choice", SubType="List", Choices=["Matte", "Gloss"]),
        field("Photo", Type="Image", SubType="Gallery"),
        field("Name"),
    ]
    template = {"Pages": [page(text_box("Name"))], "Gallery": {"Sea": picture, "Barn": picture}}
    make_card(world.associated, "card", TemplateFields=fields, Template=template)
    make_card(world.associated, "plain", TemplateFields=fields[:2], Template=None)

    shown = world.as_application().call("GET", LIST).json()

    assert [[entry["Choices"] for entry in product["TemplateFields"]] for product in shown] == [
        [["Matte", "Gloss"], ["Barn", "Sea"], []],
        [["Matte", "Gloss"], []],
    ]
    assert_renderings_fresh()
