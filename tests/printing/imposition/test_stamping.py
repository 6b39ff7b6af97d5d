"""What a sheet says of its job once it is printed."""

import io
from dataclasses import replace
from datetime import date

import pikepdf
import pytest
import zxingcpp
from PIL import Image

from printing.imposition import Stamp, stamp_file
from printing.typesetting import render_pdf_page
from stores.orders.models import OrderItem
from stores.orders.services.print_files import read_print_file
from tests.factories.orders import card_data, make_card, order_body
from tests.support.printing.pdfx_rules import faults
from tests.support.printing.programs import plates
from tests.support.production.jobs import made_pdf

STAMP = Stamp("1001-1-2", 2500, date(2026, 11, 27))


@pytest.fixture
def print_file(world):
    make_card(world.associated)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    made = world.as_user(world.user).call("POST", "/store/associated/order", order_body(Items=[item]))
    return read_print_file(item=OrderItem.objects.get(order=made.json()["OrderID"]))


def shown(content, number=0, *, trimmed=False):
    picture = render_pdf_page(content, number, pixels=2400, trimmed=trimmed)
    return Image.open(io.BytesIO(picture)).convert("RGB")


def test_each_page_names_its_job_in_a_bar_code_outside_of_the_bleed(print_file):
    stamped = stamp_file(print_file, STAMP)

    for number in (0, 1):
        assert [code.text for code in zxingcpp.read_barcodes(shown(stamped, number))] == ["1001-1-2"]
        before, after = (shown(file, number, trimmed=True) for file in (print_file, stamped))
        assert before.tobytes() == after.tobytes()
    assert STAMP.words() == "JOB 1001-1-2   2,500 COPIES   SHIP BY Nov 27, 2026"


def test_sheets_of_a_file_with_several_pages_name_their_page():
    assert STAMP.words(3, 8) == "JOB 1001-1-2   PAGE 3 OF 8   2,500 COPIES   SHIP BY Nov 27, 2026"

    with pikepdf.open(io.BytesIO(stamp_file(made_pdf(room_mm=8), STAMP))) as stamped:
        first, second = (page.obj.Resources.XObject.JobStamp.read_bytes() for page in stamped.pages)
    assert first != second


def test_stamped_file_is_pdf_x4_and_the_same_for_the_same_job(print_file):
    stamped = stamp_file(print_file, STAMP)

    assert faults(stamped) == []
    assert stamp_file(print_file, STAMP) == stamped
    with pikepdf.open(io.BytesIO(stamped)) as new, pikepdf.open(io.BytesIO(print_file)) as old:
        assert new.trailer.ID[1] != old.trailer.ID[1]
        assert list(new.pages[0].mediabox) == list(old.pages[0].mediabox)


def test_color_bar_has_patches_of_spot_colors_but_not_of_tools(tmp_path):
    printed = made_pdf(spots=("PANTONE 871 C", "CutContour"), pages=1, room_mm=8)

    found = plates(tmp_path, stamp_file(printed, STAMP))

    bar = {name: plate[-round(7 / 25.4 * 150) :] for name, plate in found.items()}
    assert bar["PANTONE 871 C"].max() == 1
    assert bar["CutContour"].max() == 0


@pytest.mark.parametrize(("size", "panels"), [((279.4, 215.9), 3), ((215.9, 355.6), 2)])
def test_folds_are_marked_on_both_ends_of_the_longer_side_outside_of_the_bleed(tmp_path, size, panels):
    width, height = size
    printed = made_pdf(*size, 3, pages=1, room_mm=8)

    plain, folded = (
        plates(tmp_path, stamp_file(printed, replace(STAMP, panels=count)))["Cyan"] for count in (1, panels)
    )

    length = max(size)
    # Nearer to the bleed than register crosses.
    ends = [
        (picture if width > height else picture.T)[row]
        for picture in (plain, folded)
        for row in (round(7 / 25.4 * 150), -round(7 / 25.4 * 150))
    ]
    for part in range(1, panels):
        at = round((11 + length * part / panels) / 25.4 * 150)
        assert [end[at - 3 : at + 4].max() > 0.5 for end in ends] == [False, False, True, True]
    middle = round(11 / 25.4 * 150)
    assert (plain == folded)[middle:-middle, middle:-middle].all()


@pytest.mark.parametrize("content", [made_pdf(), b"%PDF-1.7 art", b""], ids=["no-room", "damaged", "empty"])
def test_file_without_room_or_pages_stays_as_it_is(content):
    assert stamp_file(content, STAMP) == content
