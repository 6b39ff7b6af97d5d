import io
from dataclasses import replace
from datetime import date

import numpy as np
import pikepdf
import pytest
import zxingcpp
from PIL import Image
from pypdf import PdfReader

from printing.imposition import GangRequest, PressSheet, Slug, impose_sheet, imposing, marks, plan_sheets
from printing.imposition.planning import request_of
from printing.typesetting import render_pdf_page
from stores.orders.models import OrderItem
from stores.orders.services.print_files import read_print_file
from tests.factories.orders import card_data, make_card, order_body
from tests.support.printing.pdfx_rules import faults
from tests.support.printing.programs import plates
from tests.support.production.jobs import MM, made_pdf


def _planned(sheet, quantities=(8, 4), is_two_sided=True, size=(88.9, 50.8, 3.175)):
    requests = [
        GangRequest(f"{1001 + at}-1", *size, quantity, is_two_sided, "16 pt silk")
        for at, quantity in enumerate(quantities)
    ]
    plan = plan_sheets(requests, sheet)
    return plan.sheets[0], {request.job_number: made_pdf(*size, pages=2) for request in requests}


def _placed(content, page):
    """Matrix and name of each placed form."""
    pdf = pikepdf.open(io.BytesIO(content))
    operators = pikepdf.parse_content_stream(pdf.pages[page])
    matrices = [
        [float(number) for number in instruction.operands]
        for instruction in operators
        if str(instruction.operator) == "cm"
    ]
    names = [str(instruction.operands[0]) for instruction in operators if str(instruction.operator) == "Do"]
    return list(zip(matrices, names, strict=True))


def test_pieces_lie_where_the_plan_says_on_both_sides():
    planned, files = _planned(PressSheet())
    content = impose_sheet(planned, files)
    reader = PdfReader(io.BytesIO(content))
    assert len(reader.pages) == 2
    assert [float(edge) for edge in reader.pages[0].mediabox] == pytest.approx(
        [0, 0, 450 * MM, 320 * MM], abs=0.01
    )
    for page, places in enumerate((planned.fronts, planned.backs)):
        for place, (matrix, _) in zip(places, _placed(content, page), strict=True):
            a, b, c, d, e, f = matrix
            corners = [(3.175 * MM, 3.175 * MM), ((3.175 + 88.9) * MM, (3.175 + 50.8) * MM)]
            points = sorted((a * x + c * y + e, b * x + d * y + f) for x, y in corners)
            xs, ys = sorted(point[0] for point in points), sorted(point[1] for point in points)
            assert xs == pytest.approx([place.x_mm * MM, (place.x_mm + place.width_mm) * MM], abs=0.01)
            assert ys == pytest.approx([place.y_mm * MM, (place.y_mm + place.height_mm) * MM], abs=0.01)


def test_file_of_a_job_is_in_the_sheet_once_with_its_bleed_only():
    planned, files = _planned(PressSheet(gutter_mm=4))
    pdf = pikepdf.open(io.BytesIO(impose_sheet(planned, files)))
    forms = pdf.pages[0].obj.Resources.XObject
    assert len(forms) == 2
    for form in forms.values():
        left, bottom, right, top = (float(edge) / MM for edge in form.BBox)
        assert (right - left, top - bottom) == pytest.approx((88.9 + 4, 50.8 + 4), abs=0.01)


def test_same_plan_gives_the_same_bytes():
    planned, files = _planned(PressSheet())
    assert impose_sheet(planned, files) == impose_sheet(planned, files)


def test_work_and_turn_has_one_form_with_fronts_and_backs():
    planned, files = _planned(PressSheet(turn="work_and_turn"))
    content = impose_sheet(planned, files)
    assert len(PdfReader(io.BytesIO(content)).pages) == 1
    assert len(_placed(content, 0)) == 2 * sum(1 for place in planned.fronts if place.page == 1)
    one_sided, _ = _planned(PressSheet(turn="work_and_turn"), is_two_sided=False)
    assert one_sided.backs == ()
    assert {place.page for place in one_sided.fronts} == {1}


def test_work_and_tumble_has_fronts_above_backs_that_turn_around_the_long_edge():
    planned, files = _planned(PressSheet(turn="work_and_tumble"))
    fronts, backs = ([place for place in planned.fronts if place.page == page] for page in (1, 2))
    assert len(PdfReader(io.BytesIO(impose_sheet(planned, files))).pages) == 1
    assert min(place.y_mm for place in fronts) > max(place.y_mm + place.height_mm for place in backs)
    assert planned.cut_ys == pytest.approx([320 - y for y in reversed(planned.cut_ys)])


def test_marks_are_on_every_plate_and_outside_of_all_bleed():
    planned, files = _planned(PressSheet())
    pdf = pikepdf.open(io.BytesIO(impose_sheet(planned, files)))
    assert str(pdf.pages[0].obj.Resources.ColorSpace.All[1]) == "/All"
    operators = pikepdf.parse_content_stream(pdf.pages[0])
    kinds = [str(instruction.operator) for instruction in operators]
    marks = operators[kinds.index("SCN") :][: kinds[kinds.index("SCN") :].index("Q")]
    ends = [
        tuple(float(number) / MM for number in instruction.operands)
        for instruction in marks
        if str(instruction.operator) in {"m", "l"}
    ]
    assert len(ends) == 4 * (len(planned.cut_xs) + len(planned.cut_ys))
    for place in planned.fronts:
        for x, y in ends:
            inside_x = place.x_mm - planned.bleed_mm < x < place.x_mm + place.width_mm + planned.bleed_mm
            inside_y = place.y_mm - planned.bleed_mm < y < place.y_mm + place.height_mm + planned.bleed_mm
            assert not (inside_x and inside_y)


def test_color_bars_fill_the_slug_line_and_have_patches_of_spot_colors_but_not_of_tools(tmp_path):
    planned, files = _planned(PressSheet())
    files = dict.fromkeys(files, made_pdf(spots=("PANTONE 871 C", "CutContour")))

    content = impose_sheet(planned, files)

    found = plates(tmp_path, content, dpi=72)
    line = {name: plate[-round(12 * MM) :] for name, plate in found.items()}
    thirds = [part.max() for part in np.array_split(line["Cyan"], 3, axis=1)]
    assert thirds[1:] == [1, 1]
    last = slice(-round(40 * MM), None)
    assert line["PANTONE 871 C"][:, last].max() == 1
    assert line["CutContour"][:, last].max() == 0


def test_output_intent_and_no_font_are_in_the_sheet():
    planned, files = _planned(PressSheet())
    source = pikepdf.open(io.BytesIO(files["1001-1"]))
    source.Root.OutputIntents = [
        pikepdf.Dictionary(S=pikepdf.Name.GTS_PDFX, OutputConditionIdentifier="FOGRA39")
    ]
    changed = io.BytesIO()
    source.save(changed)
    pdf = pikepdf.open(io.BytesIO(impose_sheet(planned, {**files, "1001-1": changed.getvalue()})))
    assert str(pdf.Root.OutputIntents[0].OutputConditionIdentifier) == "FOGRA39"
    assert "/Font" not in pdf.pages[0].obj.Resources


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (None, "1002-1: there is no print file"),
        (b"no pdf", "1002-1: the print file is not a PDF"),
        (made_pdf(85, 55), "1002-1: page 1 is 85.0 by 55.0 mm; its place is"),
        (made_pdf(pages=1), "1002-1: the print file has no page 2"),
    ],
)
def test_file_that_does_not_fit_is_named(file, message):
    planned, files = _planned(PressSheet())
    files["1002-1"] = file
    if file is None:
        del files["1002-1"]
    with pytest.raises(ValueError, match=message):
        impose_sheet(planned, files)


def test_sheet_of_print_files_is_pdf_x4_as_they_are(world):
    make_card(world.associated)
    client = world.as_user(world.user)
    item = {"ProductID": "card-two-sided", "Quantity": 100, "TemplateData": card_data()}
    made = client.call("POST", "/store/associated/order", order_body(Items=[item]))
    content = read_print_file(item=OrderItem.objects.get(order=made.json()["OrderID"]))
    request = request_of("1001-1", content, quantity=100, preset="silk")

    sheet = impose_sheet(plan_sheets([request], PressSheet()).sheets[0], {"1001-1": content})

    assert (faults(content), faults(sheet)) == ([], [])


def test_pieces_of_a_job_lie_in_columns():
    planned, _ = _planned(PressSheet(), quantities=(30, 30, 30))

    columns = {}
    for place in planned.fronts:
        columns.setdefault(place.job_number, set()).add(round(place.x_mm))
    rows = len({place.y_mm for place in planned.fronts})
    for number, count in planned.counts.items():
        assert len(columns[number]) <= -(-count // rows) + 1


def test_gripper_edge_stays_free_of_pieces_and_marks():
    plain, gripped = (_planned(PressSheet(gripper_mm=width))[0] for width in (0, 20))

    lowest = min(place.y_mm for place in gripped.fronts) - gripped.bleed_mm
    assert lowest >= 20 + gripped.sheet.slug_mm
    assert min(place.y_mm for place in plain.fronts) - plain.bleed_mm < 20 + plain.sheet.slug_mm


@pytest.mark.parametrize(
    ("percent", "least", "run", "overs"), [(0, 0, 9, 0), (5, 0, 250, 13), (5, 10, 75, 10), (0, 25, 9, 25)]
)
def test_overs_are_a_percentage_and_at_least_a_number(percent, least, run, overs):
    assert PressSheet(overs_percent=percent, overs_least=least).overs(run) == overs


def test_number_of_its_job_stands_below_each_piece_in_the_gutter():
    planned, files = _planned(PressSheet())
    pdf = pikepdf.open(io.BytesIO(impose_sheet(planned, files)))
    fields = [
        [float(number) / MM for number in instruction.operands]
        for instruction in pikepdf.parse_content_stream(pdf.pages[0])
        if str(instruction.operator) == "re"
    ]
    for place in planned.fronts:
        below = [
            (x, y, width, height)
            for x, y, width, height in fields
            if place.x_mm < x
            and x + width < place.x_mm + place.width_mm
            and place.y_mm - 3 <= y
            and y + height <= place.y_mm - 1
        ]
        assert len(below) == 1, place


def test_code_of_the_sheet_is_read_from_the_slug_line_of_both_sides():
    planned, files = _planned(PressSheet())
    content = impose_sheet(planned, files, slug=Slug("G12-2"))
    for number in range(2):
        page = Image.open(io.BytesIO(render_pdf_page(content, number, pixels=3500, trimmed=False)))
        assert [found.text for found in zxingcpp.read_barcodes(page)] == ["G12-2"]


def test_slug_line_says_the_day_that_the_first_job_must_leave(monkeypatch):
    drawn = []
    monkeypatch.setattr(
        imposing, "text_path", lambda text, *place: drawn.append(text) or marks.text_path(text, *place)
    )
    planned, files = _planned(PressSheet(gripper_mm=12))

    impose_sheet(planned, files, slug=Slug("G12", date(2026, 11, 27)))

    heads = [line for line in drawn if "SHEET" in line]
    assert all("   GRIPPER 12 MM AT THIS EDGE   " in line for line in heads)
    assert [line.split("   ")[:5] for line in heads] == [
        ["G12", "SHEET 1/1", f"RUN {planned.run}", side, "SHIP BY Nov 27, 2026"] for side in ("FRONT", "BACK")
    ]


def test_long_names_of_what_is_printed_stay_beside_the_color_bars(monkeypatch):
    ends = []
    monkeypatch.setattr(
        imposing,
        "text_path",
        lambda text, size, x, y: (
            ends.append((x + marks.text_width(text, size), text)) or marks.text_path(text, size, x, y)
        ),
    )
    planned, files = _planned(PressSheet())

    impose_sheet(replace(planned, preset=", ".join(["Laminate " + "x" * 60] * 20)), files)

    bars = 450 - 5 - marks.bar_width()
    assert max(end for end, text in ends if "Laminate" in text) < bars * MM


@pytest.mark.parametrize("label", ["Ada Lovelace (k17)", "x" * 400])
def test_label_of_a_job_stands_beside_its_number_as_far_as_it_fits(label):
    planned, files = _planned(PressSheet(gutter_mm=6), quantities=(8,))
    [job] = files
    plain = impose_sheet(planned, files)

    labelled = impose_sheet(planned, files, {job: label})

    assert len(_drawn_below(labelled)) > len(_drawn_below(plain))
    pieces = max(place.x_mm + place.width_mm for place in planned.fronts)
    assert max(_drawn_below(labelled)) <= pieces * MM + 1


def _drawn_below(content):
    """Where the curves of numbers and labels are, across the sheet."""
    pdf = pikepdf.open(io.BytesIO(content))
    operators = pikepdf.parse_content_stream(pdf.pages[0])
    first_slug = next(
        index for index, instruction in enumerate(operators) if str(instruction.operator) == "CS"
    )
    return [
        float(instruction.operands[4])
        for instruction in operators[:first_slug]
        if str(instruction.operator) == "c"
    ]


@pytest.mark.parametrize(
    "sheet",
    [
        PressSheet(),
        PressSheet(gripper_mm=15),
        PressSheet(turn="work_and_tumble"),
        PressSheet(flip="top_bottom", gripper_mm=12),
        PressSheet(gutter_mm=0),
    ],
)
def test_register_crosses_are_at_the_middle_of_each_side_outside_of_bleed(monkeypatch, sheet):
    crosses = []
    monkeypatch.setattr(imposing, "cross", lambda x, y: crosses.append((x, y)) or "")
    planned, files = _planned(sheet)

    impose_sheet(planned, files)

    front, back = crosses[:4], crosses[4:]
    room = (sheet.bottom_mm + sheet.slug_mm, sheet.height_mm - sheet.margin_mm)
    middle = sheet.height_mm / 2 if sheet.is_tumbled else sum(room) / 2
    assert sorted(x for x, _ in front) == pytest.approx([7, 225, 225, 443])
    assert [y for x, y in sorted(front) if x != 225] == pytest.approx([middle, middle])
    for x, y in front:
        assert room[0] + 2 <= y <= room[1] - 2
        for place in planned.fronts:
            clear = planned.bleed_mm + 2
            beside = not place.x_mm - clear < x < place.x_mm + place.width_mm + clear
            assert beside or not place.y_mm - clear < y < place.y_mm + place.height_mm + clear
    # Seen through the paper.
    turned = [
        (x, sheet.height_mm - y) if sheet.is_tumbled else (sheet.width_mm - x, y) for x, y in back or front
    ]
    assert sorted(turned) == [pytest.approx(spot) for spot in sorted(front)]


@pytest.mark.parametrize("sheet", [{"turn": "work_and_tumble"}, {"flip": "top_bottom"}])
def test_crosses_of_a_sheet_with_one_side_are_outside_of_its_pieces(monkeypatch, sheet):
    crosses = []
    monkeypatch.setattr(imposing, "cross", lambda x, y: crosses.append((x, y)) or "")
    planned, files = _planned(PressSheet(gripper_mm=12, **sheet), (1,), False, (215.9, 279.4, 3.175))

    impose_sheet(planned, files)

    [piece] = planned.fronts
    assert max(y for _, y in crosses) >= piece.y_mm + piece.height_mm + planned.bleed_mm + 2


@pytest.mark.parametrize(
    ("is_two_sided", "is_head_to_foot", "turn", "words"),
    [
        (True, False, "sheetwise", "HEAD TO HEAD"),
        (True, True, "sheetwise", "HEAD TO FOOT"),
        (True, True, "work_and_turn", "HEAD TO FOOT"),
        (False, True, "sheetwise", None),
    ],
)
def test_slug_line_says_how_the_pieces_turn(monkeypatch, is_two_sided, is_head_to_foot, turn, words):
    drawn = []
    monkeypatch.setattr(
        imposing, "text_path", lambda text, *place: drawn.append(text) or marks.text_path(text, *place)
    )
    request = GangRequest("1001-1", 88.9, 50.8, 3.175, 100, is_two_sided, "", is_head_to_foot)
    plan = plan_sheets([request], PressSheet(turn=turn))

    impose_sheet(plan.sheets[0], {"1001-1": made_pdf(pages=2)})

    heads = [line for line in drawn if "SHEET" in line]
    assert heads
    assert all((words or "HEAD TO") in line for line in heads) == bool(words)


@pytest.mark.parametrize(
    "sheet", [PressSheet(), PressSheet(flip="top_bottom"), PressSheet(turn="work_and_turn")]
)
@pytest.mark.parametrize(("size", "panels"), [((279.4, 215.9), 3), ((88.9, 50.8), 2), ((50.8, 152.4), 2)])
def test_folds_are_marked_at_each_column_or_row_on_both_sides(monkeypatch, sheet, size, panels):
    folds, crosses = [], []
    monkeypatch.setattr(imposing, "fold", lambda *ends: folds.append(ends) or "")
    monkeypatch.setattr(imposing, "cross", lambda x, y: crosses.append((x, y)) or "")
    request = GangRequest("1001-1", *size, 3.0, 40, is_two_sided=not sheet.is_one_form, panels=panels)
    [planned] = plan_sheets([request], sheet).sheets

    impose_sheet(planned, {"1001-1": made_pdf(*size, 3.0, pages=2)})

    parts = [part / panels for part in range(1, panels)]
    across = {round(place.x_mm + part * place.width_mm, 3) for place in planned.fronts for part in parts}
    up = {round(place.y_mm + part * place.height_mm, 3) for place in planned.fronts for part in parts}
    is_across = planned.fronts[0].width_mm > planned.fronts[0].height_mm
    front = folds[: 2 * len(across if is_across else up)]
    assert {round(x if is_across else y, 3) for x, y, *_ in front} == (across if is_across else up)
    for x, y, dx, dy in folds:
        assert (dx == 0) == is_across
        for place in planned.fronts:
            beside = x < place.x_mm - 3 or x > place.x_mm + place.width_mm + 3
            assert beside or y < place.y_mm - 3 or y > place.y_mm + place.height_mm + 3
        assert all(abs(x - cx) > 2 or abs(y + dy / 2 - cy) > 4 for cx, cy in crosses)
    back = folds[len(front) :]
    # Seen through the paper.
    turned = {
        (round(x, 2), round(sheet.height_mm - y, 2))
        if sheet.is_tumbled
        else (round(sheet.width_mm - x, 2), round(y, 2))
        for x, y, *_ in back
    }
    assert not back or turned == {(round(x, 2), round(y, 2)) for x, y, *_ in front}
