import io
import random
from collections import Counter
from datetime import date, timedelta
from decimal import Decimal

import pytest
import zxingcpp
from PIL import Image
from pypdf import PdfReader

from delivery.papers.planning import DropRoute, plan_drops
from delivery.papers.sheets import LAYOUT, make_sheets
from printing.typesetting import render_document, render_pdf_page
from tests.factories.mailings import PRICE, make_mailing, random_routes
from tests.support.cases import cases

LATER = date(2026, 11, 22)
MM = 72 / 25.4


def test_papers_of_20_routes_are_read_back():
    chance = random.Random(3)
    routes = [
        DropRoute(f"{84101 + number % 4}", f"C{number:03}", "MAIN", chance.randint(20, 900))
        for number in range(20)
    ]
    sheets = make_sheets(
        make_mailing(day_date=lambda day: LATER + timedelta(day)), plan_drops(routes), lambda day: PRICE
    )
    pdf = render_document(LAYOUT, sheets, timestamp=0)

    pages = [page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages]
    text = "\n".join(pages)
    assert f"{sheets['pieces']:,}" in pages[0]
    assert "Data for PS Form 3587" in text
    for route in routes:
        assert f"{route.postal_code} {route.carrier_route}" in text
    first = len(pages) - -(-len(sheets["slips"]) // 8)
    for number, start in ((first, 0), (len(pages) - 1, (len(sheets["slips"]) - 1) // 8 * 8)):
        assert set(bar_codes(pdf, number)) == {slip["barcode"] for slip in sheets["slips"][start : start + 8]}


@pytest.mark.slow
def test_papers_of_random_mailings_are_read_back_whole():
    """Every bar code of every slip, and every number printed beside one."""
    chance = random.Random(11)
    for _ in range(cases(2, 10)):
        routes = random_routes(chance)
        routes = [route for route in routes if route.pieces <= 900][:12] or [
            DropRoute("84101", "C001", "", 1)
        ]
        sheets = make_sheets(make_mailing(), plan_drops(routes), lambda day: PRICE)
        pdf = render_document(LAYOUT, sheets, timestamp=0)

        texts = [page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages]
        first = len(texts) - -(-len(sheets["slips"]) // 8)
        read = Counter(code for number in range(first, len(texts)) for code in bar_codes(pdf, number))
        assert read == Counter(slip["barcode"] for slip in sheets["slips"])
        of_routes: Counter[str] = Counter()
        for code in read:
            of_routes[code[:9]] += int(code.rpartition("-")[2])
        assert of_routes == {route.name: route.pieces for route in routes}
        for code in read:
            assert any(code in text for text in texts[first:])
        assert f"{sum(route.pieces for route in routes):,}" in texts[0]


def bar_codes(pdf, number):
    content = render_pdf_page(pdf, number, pixels=1700, trimmed=False)
    image = Image.open(io.BytesIO(content)).convert("L")
    # As they are printed: upright, dark on light, and in their size.
    found = zxingcpp.read_barcodes(image, try_rotate=False, try_downscale=False, try_invert=False)
    return [code.text for code in found]


def test_texts_are_data_and_marks_are_drawn():
    sheets = make_sheets(
        make_mailing(
            product="#panic() *x* $y$", is_test=True, is_synthetic=True, company="Acme", phone="8015550100"
        ),
        plan_drops([DropRoute("84101", "C001", "#pagebreak()", 240)]),
        lambda day: None,
    )
    text = "\n".join(
        page.extract_text()
        for page in PdfReader(io.BytesIO(render_document(LAYOUT, sheets, timestamp=0))).pages
    )

    assert "#panic() *x* $y$" in text
    assert "1 × 100, 2 × 70" in text
    assert "EDDM Retail · ECRWSS" in text
    assert "Mailer: Acme, (801) 555-0100" in text
    assert "1 route\n" in text
    assert "TEST" in text
    assert "Invented routes and counts" in text


@pytest.mark.parametrize(
    "office", ["MAIN", "Post office of Truth or Consequences and of Elephant Butte " * 3]
)
def test_lines_of_a_slip_end_above_its_bar_code(office):
    routes = [DropRoute("84101", f"C{number:03}", office, 600) for number in range(1, 4)]
    mailing = make_mailing(is_synthetic=True, is_test=True, piece_weight_g=Decimal("14.174762"))
    sheets = make_sheets(mailing, plan_drops(routes), lambda day: PRICE)
    page = PdfReader(io.BytesIO(render_document(LAYOUT, sheets, timestamp=0))).pages[-1]
    lines = placed_texts(page)

    assert all(mark in page.extract_text() for mark in ("synthetic, not for mailing", "TEST"))
    codes = [(x, y) for text, x, y in lines if any(slip["barcode"] in text for slip in sheets["slips"])]
    row = (page.mediabox.height - 2 * 8 * MM) / 4
    assert len(codes) == (len(sheets["slips"]) - 1) % 8 + 1
    for x, y in codes:
        # The bars stand 13 mm high above their number, within the slip.
        above = [line[2] for line in lines if abs(line[1] - x) < 60 * MM and line[2] > y + 1]
        assert min(above) - y > 13 * MM + 8
        assert (y - 8 * MM) % row > 3 * MM


def placed_texts(page):
    """Each text with the place of its first letter, in points from the lower left corner."""
    found = []

    def note(text, outer, inner, *_):
        if text.strip():
            x, y = inner[4:]
            found.append(
                (text, outer[0] * x + outer[2] * y + outer[4], outer[1] * x + outer[3] * y + outer[5])
            )

    page.extract_text(visitor_text=note)
    return found


def test_boxes_for_a_far_office_have_labels_weights_and_a_letter():
    routes = [DropRoute("84101", f"C{number:03}", "MAIN", 600) for number in range(1, 4)]
    sheets = make_sheets(
        make_mailing(
            piece_weight_g=Decimal("14.174762"),
            thickness_mm=Decimal("0.3"),
            crid="4077123",
            phone="+1 801 555 0100",
            mailer=["Dana Example", "12 Main St", "US"],
        ),
        plan_drops(routes),
        lambda day: PRICE,
    )

    pages = [
        page.extract_text()
        for page in PdfReader(io.BytesIO(render_document(LAYOUT, sheets, timestamp=0))).pages
    ]

    # Half an ounce each: 33 pounds hold 1,056 pieces, which are one route and no part of another.
    assert [(box["pieces"], box["weight"]) for box in sheets["boxes"]] == [(600, "20.8 lb")] * 3
    letter = next(page for page in pages if "Dear Postmaster" in page)
    assert "Dear Postmaster: The enclosed 1,800 pieces" in " ".join(letter.split())
    assert "call (801) 555-0100 with" in " ".join(letter.split())
    labels = " ".join(next(page for page in pages if "OPEN IMMEDIATELY" in page).split())
    assert "1 of 3" in labels
    assert "2 of 3" in labels
    assert "Routes and bundles: 84101C001 × 6 6 bundles, 600 pieces" in labels
    assert "box 3 of 3 if sent by mail" in "\n".join(pages)
    assert labels.count("With the sample piece") == 1
    assert labels.count("From: Dana Example 12 Main St (801) 555-0100") == 2
    assert "0.500 oz" in "\n".join(pages)
    assert "0.012 in" in "\n".join(pages)
    assert "4077123" in "\n".join(pages)


def test_letter_names_all_zip_codes_of_the_drop_and_asks_for_no_day_before_the_boxes_arrive():
    routes = [DropRoute(code, "C001", "MAIN", 600) for code in ("84101", "84103")]
    sheets = make_sheets(make_mailing(), plan_drops(routes), lambda day: PRICE)

    pages = PdfReader(io.BytesIO(render_document(LAYOUT, sheets, timestamp=0))).pages
    texts = [" ".join(page.extract_text().split()) for page in pages]

    letter = next(text for text in texts if "Dear Postmaster" in text)
    assert "ZIP codes 84101, 84103" in letter
    assert "sent to you by Priority Mail on Mon, Nov 23, 2026" in letter
    assert "accept the mailing on the day on which it arrives" in letter
    assert [box["codes"] for box in sheets["boxes"]] == [["84101"], ["84103"]]


def test_routes_stay_together_in_boxes_unless_larger_than_one():
    pieces = (300, 2000, 700, 650, 350)
    routes = [DropRoute("84101", f"C{number:03}", "MAIN", size) for number, size in enumerate(pieces, 1)]
    mailing = make_mailing(piece_weight_g=Decimal("14.174762"))
    sheets = make_sheets(mailing, plan_drops(routes), lambda day: PRICE)

    packed = [
        [(route["name"][-1], route["pieces"], route["part"]) for route in box["routes"]]
        for box in sheets["boxes"]
    ]

    assert packed == [
        [("1", 300, ""), ("4", 650, "")],
        [("2", 1000, "bundles 1 to 10 of 20")],
        [("2", 1000, "bundles 11 to 20 of 20")],
        [("3", 700, ""), ("5", 350, "")],
    ]
    assert sum(box["bundles"] for box in sheets["boxes"]) == len(sheets["slips"])


def test_boxes_of_large_pieces_of_unknown_weight_hold_fewer_so_that_a_person_can_lift_them():
    [drop] = plan_drops([DropRoute("84101", "C001", "MAIN", 1500)])

    small, large = (
        make_sheets(make_mailing(size_mm=(Decimal(width), Decimal(height))), [drop], lambda day: PRICE)
        for width, height in (("165.1", "228.6"), ("304.8", "381"))
    )

    # 12 by 15 inches of 400 g/m2 weigh 46 g: 322 of them weigh 33 pounds.
    assert max(box["pieces"] for box in small["boxes"]) == 900
    assert max(box["pieces"] for box in large["boxes"]) == 300
