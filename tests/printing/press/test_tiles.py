"""Tiles that are drawn half-clear are so on the screen as well as in print."""

import io

import pikepdf
import pytest
from pikepdf import Dictionary, Name
from PIL import Image

from printing.press import tiles
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_proof
from tests.support.printing.made_templates import card
from tests.support.printing.plate_samples import artwork, made
from tests.support.printing.prepared_artwork import prepare_artwork

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
BOX = b"60 30 160 110 re "
FILLED = b"/Pattern cs /P scn "


def page_of(content):
    def change(pdf, page):
        tile = Dictionary(PatternType=1, PaintType=1, TilingType=1, Resources=Dictionary())
        tile.BBox, tile.XStep, tile.YStep = [0, 0, 40, 40], 40, 40
        form = pdf.make_stream(b"1 0 0 0 k " + BOX + b"f", Type=Name.XObject, Subtype=Name.Form)
        form.BBox, form.Resources = [0, 0, 300, 200], Dictionary()
        page.Resources = Dictionary(
            Pattern=Dictionary(P=pdf.make_stream(b"1 0 0 0 k 0 0 40 40 re f", tile)),
            XObject=Dictionary(F=form),
            ExtGState=Dictionary(H=Dictionary(ca=0.5, CA=0.5), O=Dictionary(ca=1, CA=1)),
        )

    return made(content, change)


def shown(content):
    """The level of cyan in the middle, which is nothing, half or all."""
    template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(page_of(content))}}, [])
    for press in (None, COATED):
        page = render_proof(template, {}, mark=None, press=press).pages[0]
        with Image.open(io.BytesIO(page)) as opened:
            red = opened.convert("RGB").getpixel((240, 160))[0]
        yield 0 if red > 230 else 1 if red < 60 else 0.5


@pytest.mark.parametrize(
    ("content", "level"),
    [
        (FILLED + BOX + b"f", 1),
        (b"/H gs " + FILLED + BOX + b"f", 0.5),
        (FILLED + b"/H gs " + BOX + b"f", 0.5),
        (FILLED + b"/H gs /O gs " + BOX + b"f", 1),
        (b"q /H gs " + FILLED + b"Q /Pattern cs /P scn " + BOX + b"f", 1),
        (b"/H gs " + FILLED + b"1 0 0 0 k " + BOX + b"f", 0.5),
        (b"/H gs " + FILLED + b"q 1 0 0 1 0 0 cm /F Do Q", 0.5),
        (b"/H gs " + FILLED + b"/F Do " + BOX.replace(b"60", b"600") + b"f", 0.5),
        (b"/H gs /Pattern CS /P SCN 60 w 60 85 m 220 85 l S", 0.5),
        (b"/H gs /Pattern CS /P SCN 1 0 0 0 k " + BOX + b"f", 0.5),
    ],
)
def test_tiles_are_as_clear_as_the_state_says(content, level):
    assert list(shown(content)) == [level, level]


@pytest.mark.parametrize(("limit", "count"), [(100, 2), (10, 1)])
def test_content_that_takes_too_much_memory_stays_as_it_is(monkeypatch, limit, count):
    monkeypatch.setattr(tiles, "CONTENT_BYTES", limit)

    prepared = prepare_artwork(page_of(b"/H gs " + FILLED + BOX + b"f")).pdf

    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        assert len(pdf.pages[0].obj.Resources.Pattern) == count


def test_pages_with_the_same_content_have_tiles_of_their_own():
    with pikepdf.open(io.BytesIO(page_of(b"/H gs " + FILLED + BOX + b"f"))) as pdf:
        pdf.pages.append(pdf.pages[0])
        pdf.pages[1].obj.Resources = pdf.make_indirect(Dictionary(pdf.pages[0].obj.Resources))
        pdf.pages[1].obj.Resources.ExtGState = Dictionary(H=Dictionary(ca=0.2))
        out = io.BytesIO()
        pdf.save(out)

    with pikepdf.open(io.BytesIO(prepare_artwork(out.getvalue()).pdf)) as pdf:
        for page in pdf.pages:
            named = pikepdf.parse_content_stream(page, "scn")[-1].operands[0]
            assert str(named) in page.obj.Resources.Pattern


def test_pages_without_content_may_share_the_resources_of_others():
    with pikepdf.open(io.BytesIO(page_of(b"/H gs " + FILLED + BOX + b"f"))) as pdf:
        pdf.add_blank_page().obj.Resources = pdf.pages[0].obj.Resources
        del pdf.pages[1].obj.Contents
        out = io.BytesIO()
        pdf.save(out)

    assert len(prepare_artwork(out.getvalue()).pages) == 2


def test_tiles_without_a_box_stay_as_they_are():
    with pikepdf.open(io.BytesIO(page_of(b"/H gs " + FILLED + BOX + b"f"))) as pdf:
        del pdf.pages[0].obj.Resources.Pattern.P.BBox
        out = io.BytesIO()
        pdf.save(out)

    with pikepdf.open(io.BytesIO(prepare_artwork(out.getvalue()).pdf)) as pdf:
        assert set(pdf.pages[0].obj.Resources.Pattern.keys()) == {"/P"}
