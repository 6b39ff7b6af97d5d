"""The papers, weights and thicknesses of the demo catalog."""

import json
import re
from decimal import Decimal
from io import BytesIO

import pytest

from printing.preflight.eddm import check_piece
from stores.catalog.services.imports import import_catalog
from stores.demo import demo_catalog

PRODUCTS = [
    (store["StoreID"], product) for store in demo_catalog()["Stores"] for product in store["Products"]
]
NAMES = [f"{store}-{product['ID']}" for store, product in PRODUCTS]


@pytest.mark.parametrize(("store", "product"), PRODUCTS, ids=NAMES)
def test_product_says_what_it_is_made_of_and_weighs(store, product):
    assert product["StockCode"]
    assert 1 <= product["PieceWeightG"] <= 10_000
    assert 0.08 <= product.get("ThicknessMM", 1) <= 10
    if "StockWeightGSM" in product:
        assert product["Coating"]
        assert product["ThicknessMM"]


@pytest.mark.parametrize(("store", "product"), PRODUCTS, ids=NAMES)
def test_paper_is_the_one_of_the_description(store, product):
    text, code = product["Description"], product["StockCode"]
    if board := re.search(r"\b(1[0-8]|20) pt\b", text.split("full-color 12 pt")[0]):
        assert code.startswith(f"{board[1]}PT-")
    if paper := re.search(r"(?:^| on | of )(\d+) lb (gloss|silk) (text|cover)", text):
        assert code == f"{paper[1]}LB-{paper[2].upper()}-{paper[3].upper()}"
    if weight := re.search(r"\b(\d{3}) g/m² (?:silk|gloss|satin|cotton rag)", text):
        assert product["StockWeightGSM"] == int(weight[1])
    assert ("saddle-stitched" in text) == (product.get("Binding") == "SaddleStitch")
    assert ("Binding" in product) == ("BindingEdge" in product)


def test_postcards_and_mailers_weigh_what_their_paper_weighs():
    for _store, product in PRODUCTS:
        if product["Category"] in ("Postcards", "EDDM mailers", "Rack cards", "Letterhead"):
            area = product["WidthMM"] * product["HeightMM"] / 1_000_000
            assert product["PieceWeightG"] == pytest.approx(area * product["StockWeightGSM"], abs=0.06)


def test_mailers_are_pieces_for_eddm():
    mailers = [product for _store, product in PRODUCTS if product.get("IsEddm")]
    assert len(mailers) > 10
    for product in mailers:
        found = [Decimal(str(product[name])) for name in ("PieceWeightG", "ThicknessMM")]
        assert not list(check_piece(*found)), product["ID"]


@pytest.mark.slow
@pytest.mark.django_db
def test_demo_catalog_passes_every_check_of_an_import():
    """`load_demo` leaves out that of the templates, which takes a third of its time."""
    source = BytesIO(json.dumps(demo_catalog()).encode())

    assert import_catalog(source=source, dry_run=True).products_new == len(PRODUCTS)
