"""The history of a product shows every change of its template."""

import json

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from fulfillment.core.admin.history import MAX_SHOWN
from stores.catalog.catalog_file.writer import write_catalog
from stores.catalog.models import TemplateChange
from stores.catalog.selectors.products import catalog_of, stored_product
from stores.catalog.services.products import save_product
from stores.editor.admin.history import changes_of_template
from tests.factories.templates import field, make_card, make_demo_product, page, text_box
from tests.support.catalog.imports import load
from tests.support.pages import text

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 94.9 56.8"><rect width="%d" height="9"/></svg>'


def outline(*pages, **parts):
    return {"Pages": list(pages), **parts}


def change(product, template, **values):
    record = {**stored_product(product.pk).record, "Template": template, **values}
    return save_product(store=product.store, values=record, product=product)


def history(world, product):
    client = Client()
    client.force_login(world.operator)
    response = client.get(reverse("admin:stores_product_history", args=[product.pk]))
    assert response.status_code == 200
    return text(response)


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        (None, outline(page(text_box("Name"))), ("Template", "", "1 page, 1 box")),
        (outline(page(text_box("Name"))), None, ("Template", "1 page, 1 box", "none")),
        (
            outline(page()),
            outline(page(text_box("Name"))),
            ("Page 1, text box of Name", "", "added at 5, 5 mm, 60 × 8 mm"),
        ),
        (
            outline(page(text_box("Name"))),
            outline(page()),
            ("Page 1, text box of Name", "5, 5 mm, 60 × 8 mm", "removed"),
        ),
        (
            outline(page(text_box("Name"))),
            outline(page(text_box("Name", X=7.5))),
            ("Page 1, text box of Name, moved", "5, 5 mm", "7.5, 5 mm"),
        ),
        (
            outline(page(text_box("Name"))),
            outline(page(text_box("Name", Width=50))),
            ("Page 1, text box of Name, resized", "60 × 8 mm", "50 × 8 mm"),
        ),
        (
            outline(page(text_box("Name", Color="#ff0000"))),
            outline(page(text_box("Name"))),
            ("Page 1, text box of Name, Color", "#ff0000", "as usual"),
        ),
        (
            outline(page(text_box("A"), text_box("B"))),
            outline(page(text_box("B"), text_box("A"))),
            ("Page 1, boxes", "", "drawn in another order"),
        ),
        (
            outline(page(text_box("A")), page(text_box("B"))),
            outline(page(text_box("B")), page(text_box("A"))),
            ("Page 2", "", "moved to place 1"),
        ),
        (
            outline(page()),
            outline({**page(), "BleedMM": 5}),
            ("Page 1, Bleed (mm)", "3", "5"),
        ),
        (
            outline(page(), Artwork={"front.svg": "a1"}),
            outline(page(), Artwork={"front.svg": "b2"}),
            ("Artwork front.svg", "", "replaced by another"),
        ),
        (
            outline(page(), Gallery={"Garden": "a1"}),
            outline(page(), Gallery={}),
            ("Gallery picture Garden", "", "removed"),
        ),
        (
            outline(page()),
            outline(
                page(
                    {"Kind": "QRCode", "Text": "https://a.example", "X": 1, "Y": 2, "Width": 20, "Height": 20}
                )
            ),
            ("Page 1, QR code box “https://a.example”", "", "added at 1, 2 mm, 20 × 20 mm"),
        ),
        ([1], {"Pages": 7}, ("Template", "", "written in another form; it shows the same")),
    ],
)
def test_one_change_is_reported_as_one_line(before, after, reported):
    assert changes_of_template(before, after) == [reported]


def test_inserted_page_is_the_only_one_reported():
    first, second, added = page(text_box("A")), page(text_box("B")), page()

    assert changes_of_template(outline(first, second), outline(first, added, second)) == [
        ("Pages", "2", "3"),
        ("Page 2", "", "added: 88.9 × 50.8 mm, 0 boxes"),
    ]


def test_template_replaced_is_reported_in_a_bounded_number_of_lines():
    boxes = [text_box(f"F{number}") for number in range(60)]

    reported = changes_of_template(outline(page()), outline(page(*boxes)))

    assert len(reported) == MAX_SHOWN
    assert reported[-1] == ("Template", "", "and 21 more changes")


def test_history_of_a_product_shows_changes_of_its_template(world):
    product = make_card(world.associated)
    artwork = {"front.svg": {"MediaType": "image/svg+xml", "Data": SVG % 9}}
    change(
        product,
        {"Pages": [{**page(text_box("Name", X=9)), "Background": "front.svg"}], "Artwork": artwork},
        TemplateFields=[field("Name", Required=True)],
    )

    reported = history(world, product)

    for words in ("Page 1, text box of Name, moved", "5, 5 mm", "9, 5 mm", "Artwork front.svg", "added"):
        assert words in reported
    assert "&lt;svg" not in reported


def test_import_is_reported_as_well_and_a_change_of_the_price_adds_nothing(world):
    product = make_card(world.associated)
    record = json.loads(b"".join(write_catalog(catalog_of(["associated"]))))
    listed = record["Stores"][0]["Products"][0]
    listed["Name"] = "Other name"
    load(record)
    assert not TemplateChange.objects.exists()

    listed["Template"]["Pages"][0]["Boxes"][0]["Y"] = 20
    load(record)

    change = TemplateChange.objects.get()
    assert (change.product_id, change.version) == (product.pk, 3)
    assert "5, 5 mm</del> <ins>5, 20 mm" in history(world, product)


@pytest.mark.django_db
def test_pictures_are_kept_as_digests_and_very_long_pages_as_numbers(world):
    product = make_demo_product(world.associated, "business-card-standard")
    template = stored_product(product.pk).record["Template"]
    size = len(json.dumps(template))
    change(product, {**template, "Pages": template["Pages"][:1]}, PageCount=1)

    kept = TemplateChange.objects.get()
    assert len(json.dumps([kept.before, kept.after])) < size / 4
    assert all(len(digest) == 64 for digest in kept.before["Artwork"].values())

    long = {"Pages": [page(*[text_box("Name", Text="x" * 2000)] * 60)] * 2}
    with connection.cursor() as cursor:
        cursor.execute("UPDATE stores_product SET template = %s", [json.dumps(long)])
    kept = TemplateChange.objects.latest("pk")
    assert [page["Boxes"] for page in kept.after["Pages"]] == [60, 60]
    assert ("Page 1, boxes", "6", "60") in changes_of_template(kept.before, kept.after)


@pytest.mark.parametrize("template", ["7", "[]", '"text"', '{"Artwork": [1], "Pages": {}}', "null"])
def test_template_of_any_form_can_be_written(world, template):
    product = make_card(world.associated)

    with connection.cursor() as cursor:
        cursor.execute("UPDATE stores_product SET template = %s", [template])

    history(world, product)
    change = TemplateChange.objects.get()
    assert changes_of_template(change.before, change.after)


def test_changes_are_named_in_the_language_of_the_reader():
    before = outline(page(text_box("Name")))
    after = outline(page(text_box("Name", X=7.5), text_box("Title")), page())
    with override("de"):
        changes = [" ".join(change) for change in changes_of_template(before, after)]
    assert "Seiten 1 2" in changes
    assert any("verschoben" in change for change in changes)
    assert any("hinzugefügt bei" in change for change in changes)
    assert not any(english in " ".join(changes) for english in ("moved", "added", "box"))
