from decimal import Decimal

import pytest

from fulfillment.core.errors import Invalid
from printing.preflight.eddm import check_pages, check_size
from printing.typesetting import Field, parse_template, render_proof
from printing.typesetting.errors import TemplateInvalid
from stores.catalog.services.products import save_product
from tests.factories.orders import make_product, product_values

INDICIA = {"Kind": "EddmIndicia", "X": 190, "Y": 5, "Width": 34, "Height": 28, "Size": 8}
ADDRESS = {"Kind": "EddmAddress", "X": 120, "Y": 50, "Width": 70, "Height": 20, "Size": 12}


def page(*boxes):
    return {"WidthMM": 228.6, "HeightMM": 165.1, "BleedMM": 0, "Boxes": list(boxes)}


def codes(*boxes):
    return [
        (finding.code, finding.is_error)
        for finding in check_pages(parse_template({"Pages": [page(*boxes)]}, []).pages)
    ]


@pytest.mark.parametrize(
    ("width", "height", "code"),
    [
        ("266.7", "155.575", "eddm_too_small"),
        ("88.9", "50.8", "eddm_too_small"),
        ("155.6", "156", None),
        ("266.8", "100", None),
        ("304.8", "381", None),
        ("381.1", "100", "eddm_too_large"),
        ("310", "310", "eddm_too_large"),
    ],
)
def test_size_is_that_of_a_flat(width, height, code):
    # A flat may stand or lie; 6.125 in are 155.575 mm, 10.5 in are 266.7 mm.
    assert [finding.code for finding in check_size(Decimal(width), Decimal(height))] == (
        [code] if code else []
    )


def test_boxes_within_the_rules_have_no_findings():
    assert codes(INDICIA, ADDRESS) == []


@pytest.mark.parametrize(
    ("box", "code", "is_error"),
    [
        (INDICIA | {"Height": 12}, "eddm_indicia_too_small", True),
        (INDICIA | {"Text": "PRSRT STD"}, "eddm_indicia_words", True),
        (INDICIA | {"Rotation": 90}, "eddm_turned", True),
        (INDICIA | {"Y": 80}, "eddm_indicia_place", False),
        (INDICIA | {"X": 100}, "eddm_indicia_place", False),
        (ADDRESS | {"Text": "Dear friend"}, "eddm_address_words", True),
        (ADDRESS | {"MinimumSize": 7}, "eddm_address_type", True),
        (ADDRESS | {"X": 2}, "eddm_address_edge", True),
        (ADDRESS | {"Y": 100}, "eddm_address_place", False),
    ],
)
def test_each_broken_rule_is_found(box, code, is_error):
    assert codes(box) == [(code, is_error)]


def test_boxes_are_drawn_with_their_usual_words():
    template = parse_template({"Pages": [page(INDICIA, ADDRESS)]}, [])

    assert b"%PDF" in render_proof(template, {}, mark=None).pdf
    assert [box.text for box in template.pages[0].boxes] == [
        "PRSRT STD\nECRWSS\nU.S. POSTAGE\nPAID\nEDDM RETAIL",
        "Local\nPostal Customer",
    ]
    assert [box.is_framed for box in template.pages[0].boxes] == [True, False]


def test_boxes_show_no_field():
    with pytest.raises(TemplateInvalid, match="fixed Text"):
        parse_template({"Pages": [page(ADDRESS | {"Field": "Name"})]}, [Field("Name")])


def test_product_for_eddm_that_breaks_a_rule_is_not_saved(world):
    small = product_values("small", IsEddm=True, WidthMM=Decimal("88.9"), HeightMM=Decimal("50.8"))
    with pytest.raises(Invalid) as caught:
        save_product(store=world.associated, values=small)
    assert [(fault.pointer, fault.code) for fault in caught.value.faults] == [("/IsEddm", "eddm_too_small")]

    with pytest.raises(Invalid) as caught:
        make_product(
            world.associated, IsEddm=True, Template={"Pages": [page(INDICIA, ADDRESS | {"Size": 6})]}
        )
    [fault] = caught.value.faults
    assert (fault.pointer, fault.code) == ("/Template/Pages/0/Boxes/1", "eddm_address_type")


def test_piece_too_heavy_or_too_thick_for_eddm_is_refused(world):
    heavy = product_values("heavy", IsEddm=True, PieceWeightG=Decimal("93.6"), ThicknessMM=Decimal("19.1"))
    light = product_values("light", IsEddm=True, PieceWeightG=Decimal("93.5"), ThicknessMM=Decimal("0.3"))

    with pytest.raises(Invalid) as caught:
        save_product(store=world.associated, values=heavy)

    assert [fault.pointer for fault in caught.value.faults] == ["/PieceWeightG", "/ThicknessMM"]
    assert "3.302 oz; a piece for EDDM weighs 3.3 oz at most" in caught.value.faults[0].message
    assert save_product(store=world.associated, values=light).piece_weight_g == Decimal("93.50")
