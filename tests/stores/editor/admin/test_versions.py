"""Versions of a template: side by side, and restored with one button, with pictures that left the template since."""

import pytest
from django.urls import reverse
from django.utils import timezone

from stores.catalog.models import Product, TemplatePicture
from stores.catalog.selectors.products import stored_product
from stores.catalog.services.products import save_product
from stores.editor.services.drafts import EARLIER_PICTURE_RETENTION, retention_rules
from tests.factories.accounts import OperatorFactory
from tests.factories.stores import make_store
from tests.factories.templates import field, make_card, page, text_box

pytestmark = pytest.mark.django_db

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 94.9 56.8"><rect width="%d" height="9"/></svg>'


def template(width: int = 9, **box):
    ground = {"MediaType": "image/svg+xml", "Data": SVG % width}
    with_ground = {**page(text_box("Name", **box)), "Background": "front.svg"}
    return {"Pages": [with_ground], "Artwork": {"front.svg": ground}}


def change(product, **values):
    record = {**stored_product(product.pk).record, **values}
    return save_product(store=product.store, values=record, product=product)


@pytest.fixture
def product(client):
    client.force_login(OperatorFactory())
    return make_card(make_store(), Template=template())


def address(product, name="versions"):
    return reverse(f"admin:stores_product_template_{name}", args=[product.pk])


def restore(client, product, version, begun):
    values = {"restore": version, "version": begun}
    response = client.post(address(product, "restore"), values, follow=True)
    return " ".join(str(message) for message in response.context["messages"])


def test_version_is_restored_with_the_picture_that_left_it(client, product):
    first = product.template
    change(product, Template=template(4, X=20))

    assert [picture.data for picture in TemplatePicture.objects.all()] == [SVG % 9]
    assert restore(client, product, 1, 2) == "Version 1 is restored, as version 3."
    product.refresh_from_db()
    assert product.template == first
    # And what it took the place of can be restored as well.
    assert restore(client, product, 2, 3) == "Version 2 is restored, as version 4."


def test_two_versions_stand_side_by_side_with_what_changed(client, product):
    change(product, Template=template(9, X=20))
    change(product, Name="Only the name")
    change(product, Template=template(9, X=30))

    response = client.get(address(product))
    shown = response.context

    assert [version.version for version in shown["versions"]] == [4, 2, 1]
    assert [(column["version"].version, len(column["pages"])) for column in shown["columns"]] == [
        (2, 1),
        (4, 1),
    ]
    assert all(page["picture"] for column in shown["columns"] for page in column["pages"])
    assert shown["changes"] == [("Page 1, text box of Name, moved", "20, 5 mm", "30, 5 mm")]
    other = client.get(address(product), {"left": "1", "right": "2"}).context
    assert [column["version"].version for column in other["columns"]] == [1, 2]
    unknown = client.get(address(product), {"left": "77"}, headers={"Accept-Language": "de"})
    assert unknown.status_code == 404
    assert "Es gibt keine Version 77 dieser Vorlage." in unknown.content.decode()


def test_version_without_its_picture_is_refused_and_says_so(client, product):
    change(product, Template=template(4))
    TemplatePicture.objects.update(created=timezone.now() - EARLIER_PICTURE_RETENTION * 2)
    [rule] = [rule for rule in retention_rules() if rule.name == "pictures of earlier templates"]
    assert sum(rule.remove(10)) == 1

    said = "A picture of version 1 is no longer kept."
    assert said in client.get(address(product)).content.decode()
    assert restore(client, product, 1, 2) == f"Version 1 was not restored. {said}"
    assert Product.objects.get().version == 2


def test_restoring_loses_nothing_that_was_saved_meanwhile(client, product):
    change(product, Template=template(4))
    change(product, Template=template(5))

    said = restore(client, product, 1, 2)
    assert "Another user saved version 3 of this product; you began with version 2." in said
    assert "There is no version 77" in restore(client, product, 77, 3)
    assert Product.objects.get().version == 3


def test_version_that_shows_a_field_that_is_gone_says_what_is_wrong(client, product):
    change(product, Template=template(9, Field="Title"), TemplateFields=[field("Title")])

    said = restore(client, product, 1, 2)

    assert "Field must be one of the product's fields: Title." in said


def test_script_gets_answers_as_json(client, product):
    def press(button, **values):
        draft = '{"Pages": [{"WidthMM": 88.9, "HeightMM": 50.8, "Boxes": []}], "Artwork": {}, "Gallery": {}}'
        sent = {"draft": draft, "version": 1, "page": 0, "do": button, **values}
        url = reverse("admin:stores_product_template", args=[product.pk])
        return client.post(url, sent, headers={"Accept": "application/json"}).json()

    refused = press("add-field", **{"new-field-name": "Name", "new-field-type": "Text:SingleLine"})
    assert [fault["pointer"] for fault in refused["faults"]] == ["/TemplateFields/1"]
    choice = {"new-field-name": "Paper", "new-field-type": "Choice:List"}
    assert (
        press("add-field", **choice)["faults"][0]["message"] == "Choices: a list needs at least one choice."
    )
    added = press("add-field", **choice, **{"new-field-choices": "Matte\r\n Gloss \r\n"})
    assert added["draft"]["NewFields"][0]["Choices"] == ["Matte", "Gloss"]
    assert added["samples"]["Paper"] == "Matte"
    assert press("save") == {"saved": 2, "message": "Saved as version 2."}
    assert press("save")["changed"].startswith("Another user saved version 2")


@pytest.mark.parametrize(
    ("inks", "color"),
    [
        ({"C": 0, "M": 0, "Y": 0, "K": 0}, "#ffffff"),
        ({"C": 0, "M": 0, "Y": 0, "K": 101}, None),
        ({"C": "x"}, None),
    ],
)
def test_inks_are_shown_as_the_typesetter_shows_them(client, product, inks, color):
    assert client.get(address(product, "color"), inks).json() == {"color": color}


def test_specimen_is_a_picture_of_a_family_that_is_there(client, product):
    response = client.get(address(product, "font"), {"family": "Lato"})

    assert (response["Content-Type"], response.content[:4]) == ("image/png", b"\x89PNG")
    assert client.get(address(product, "font"), {"family": "Wingdings"}).status_code == 404
