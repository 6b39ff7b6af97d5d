"""Tiles and gradients have the same colors on the screen as in print, and are half-clear on both."""

import io
import time

import pikepdf
import pytest
from pikepdf import Dictionary, Name
from PIL import Image

from printing.press import tiles
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_proof
from tests.support.printing.made_templates import card
from tests.support.printing.plate_samples import artwork, made
from tests.support.printing.prepared_artwork import prepare_press_artwork

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
BOX = b"60 30 160 110 re "
FILLED = b"/Pattern cs /P scn "


def page_of(content, more=lambda pdf, page: None):
    def change(pdf, page):
        tile = Dictionary(PatternType=1, PaintType=1, TilingType=1, Resources=Dictionary())
        tile.BBox, tile.XStep, tile.YStep = [0, 0, 40, 40], 40, 40
        form = pdf.make_stream(b"1 0 0 0 k " + BOX + b"f", Type=Name.XObject, Subtype=Name.Form)
        form.BBox, form.Resources = [0, 0, 300, 200], Dictionary()
        ink = Dictionary(FunctionType=2, Domain=[0, 1], C0=[1, 0, 0, 0], C1=[1, 0, 0, 0], N=1)
        shading = Dictionary(ShadingType=2, ColorSpace=Name.DeviceCMYK, Coords=[0, 0, 300, 0], Function=ink)
        patterns = Dictionary(P=pdf.make_stream(b"1 0 0 0 k 0 0 40 40 re f", tile))
        if b"/G " in content:
            patterns.G = Dictionary(PatternType=2, Shading=shading)
        page.Resources = Dictionary(
            Pattern=patterns,
            XObject=Dictionary(F=form),
            ExtGState=Dictionary(H=Dictionary(ca=0.5, CA=0.5), O=Dictionary(ca=1, CA=1)),
        )
        more(pdf, page)

    return made(content, change)


def shown(page):
    """The level of cyan in the middle, which is nothing, half or all."""
    template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(page)}}, [])
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
    assert list(shown(page_of(content))) == [level, level]


FORM = FILLED + BOX + b"f"


@pytest.mark.parametrize(
    ("content", "form", "level"),
    [
        (b"/H gs /F Do", FORM, 0.5),
        (b"q /H gs Q /F Do", FORM, 1),
        (b"/H gs /F Do", b"/I Do", 0.5),
        (b"/H gs /F Do", b"/O gs " + FORM, 1),
        (b"/H gs /O gs /F Do", FORM, 1),
    ],
)
def test_tiles_of_forms_are_as_clear_as_what_draws_the_form(content, form, level):
    """As TikZ draws a PDF half-clear that is included in another."""

    def change(pdf, page):
        resources = page.Resources
        forms = {"/F": form, "/I": FORM}
        drawn = {
            name: pdf.make_stream(drawing, Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 300, 200])
            for name, drawing in forms.items()
        }
        resources.XObject = pdf.make_indirect(Dictionary(drawn))
        for inner in drawn.values():
            states = Dictionary(O=Dictionary(ca=1))
            inner.Resources = Dictionary(
                Pattern=resources.Pattern, XObject=resources.XObject, ExtGState=states
            )

    assert list(shown(page_of(content, change))) == [level, level]


@pytest.mark.parametrize(
    ("content", "level"),
    [
        (b"/Pattern cs /G scn /H gs " + BOX + b"f", 0.5),
        (b"/H gs /Pattern cs /G scn /O gs " + BOX + b"f", 1),
        (b"/Pattern cs /G scn q /H gs Q " + BOX + b"f", 1),
        (b"/Pattern cs /G scn q 0 g Q /H gs " + BOX + b"f", 0.5),
        (b"/Pattern cs /G scn 1 0 0 0 k /H gs " + BOX + b"f", 0.5),
        (b"/Pattern CS /G SCN /H gs 60 w 60 85 m 220 85 l S", 0.5),
        (b"/Pattern CS /G SCN 1 0 0 0 k /H gs " + BOX + b"f", 0.5),
        (b"/Pattern cs /G scn /H gs /Pattern cs /P scn " + BOX + b"f", 0.5),
        (b"/Pattern cs /P scn /H gs /Pattern cs /G scn " + BOX + b"f", 0.5),
    ],
)
def test_gradients_are_as_clear_as_the_state_says(content, level):
    """As Chrome names the opacity after the color."""
    assert list(shown(page_of(content))) == [level, level]


def test_tile_in_larger_units_than_the_page_is_clipped():
    """As Cairo draws a gradient, in patterns of Inkscape a hundred times as large."""

    def change(pdf, page):
        tile = Dictionary(PatternType=1, PaintType=1, TilingType=1, Resources=Dictionary())
        tile.BBox, tile.XStep, tile.YStep = [0, 0, 16000, 11000], 16000, 11000
        tile.Matrix = [0.01, 0, 0, 0.01, 60, 30]
        clipped = b"q 0 0 4000 11000 re W n 1 0 0 0 k 0 0 16000 11000 re f Q"
        page.Resources = Dictionary(Pattern=Dictionary(P=pdf.make_stream(clipped, tile)))

    assert list(shown(made(FILLED + BOX + b"f", change))) == [0, 0]


def test_clip_to_no_path_clips_nothing_in_a_tile():
    def change(pdf, page):
        tile = Dictionary(PatternType=1, PaintType=1, TilingType=1, Resources=Dictionary())
        tile.BBox, tile.XStep, tile.YStep = [0, 0, 40, 40], 40, 40
        content = b"0 0 10 10 re n W n 1 0 0 0 k 0 0 40 40 re f"
        page.Resources = Dictionary(Pattern=Dictionary(P=pdf.make_stream(content, tile)))

    assert list(shown(made(FILLED + BOX + b"f", change))) == [1, 1]


def test_gradient_of_a_tile_is_drawn_where_the_tile_is_clipped():
    """As WeasyPrint writes each gradient of a box."""

    def change(pdf, page):
        ink = Dictionary(FunctionType=2, Domain=[0, 1], C0=[1, 0, 0, 0], C1=[1, 0, 0, 0], N=1)
        shading = Dictionary(ShadingType=2, ColorSpace=Name.DeviceCMYK, Coords=[0, 0, 20, 0], Function=ink)
        tile = Dictionary(
            PatternType=1, PaintType=1, TilingType=1, BBox=[0, 0, 160, 110], XStep=160, YStep=110
        )
        tile.Matrix, tile.Resources = [1, 0, 0, -1, 60, 140], Dictionary(Shading=Dictionary(S=shading))
        page.Resources = Dictionary(
            Pattern=Dictionary(P=pdf.make_stream(b"2 0 0 1 0 0 cm 1 0 0 1 20 0 cm /S sh", tile))
        )

    assert list(shown(made(BOX + b"W n " + FILLED + BOX + b"f", change))) == [1, 1]


def uncolored_page(content, form=b""):
    def change(pdf, page):
        tile = Dictionary(PatternType=1, PaintType=2, TilingType=1, Resources=Dictionary())
        tile.BBox, tile.XStep, tile.YStep = [0, 0, 40, 40], 40, 40
        inks = pdf.make_indirect(pikepdf.Array([Name.Pattern, Name.DeviceCMYK]))
        patterns = Dictionary(P=pdf.make_stream(b"0 1 0 0 k 0 0 40 40 re f", tile))
        drawn = pdf.make_stream(form, Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 300, 200])
        drawn.Resources = Dictionary(Pattern=patterns)
        page.Resources = Dictionary(
            Pattern=patterns,
            XObject=Dictionary(F=drawn),
            ColorSpace=Dictionary(C=inks),
            ExtGState=Dictionary(H=Dictionary(ca=0.5, CA=0.5)),
        )

    return made(content, change)


@pytest.mark.parametrize(
    ("content", "level"),
    [
        (b"/C cs 1 0 0 0 /P scn " + BOX + b"f", 1),
        (b"/C cs .5 0 0 0 /P scn " + BOX + b"f", 0.5),
        (b"/C cs 0 0 1 0 /P scn 1 0 0 0 /P scn " + BOX + b"f", 1),
        (b"/C cs 1 0 0 0 /P scn q 0 0 1 0 /P scn Q " + BOX + b"f", 1),
        (b"/C cs 1 0 0 0 /P scn 0 0 1 0 /P scn " + BOX + b"f", 0),
        (b"/C CS 1 0 0 0 /P SCN 60 w 60 85 m 220 85 l S", 1),
        (b"/H gs /C cs 1 0 0 0 /P scn " + BOX + b"f", 0.5),
    ],
)
def test_tiles_without_colors_are_drawn_in_the_color_that_is_set(content, level):
    """As TikZ draws hatches; the renderer of proofs takes all colors for RGB."""
    assert list(shown(uncolored_page(content))) == [level, level]


def test_tiles_in_a_color_that_a_form_inherits_stay_without_colors():
    inherits = uncolored_page(b"/C cs 1 0 0 0 /P scn /F Do", b"1 0 0 0 /P scn " + BOX + b"f")
    with pikepdf.open(io.BytesIO(prepare_press_artwork(inherits).pdf)) as pdf:
        form = pdf.pages[0].obj.Resources.XObject.F
        assert form.Resources.Pattern.P.PaintType == 2


@pytest.mark.parametrize("name", ["STREAM_BYTES", "CONTENT_BYTES"])
@pytest.mark.parametrize(("limit", "count"), [(100, 2), (10, 1)])
def test_content_that_takes_too_much_memory_or_time_stays_as_it_is(monkeypatch, name, limit, count):
    monkeypatch.setattr(tiles, name, limit)

    prepared = prepare_press_artwork(page_of(b"/H gs " + FILLED + BOX + b"f")).pdf

    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        assert len(pdf.pages[0].obj.Resources.Pattern) == count


def test_forms_drawn_many_times_half_clear_take_little_time():
    def change(pdf, page):
        parts = {f"/P{number}": pdf.make_stream(b"", Subtype=Name.Form) for number in range(30)}
        page.Resources.XObject.M = pdf.make_stream(
            b"/P0 Do", Subtype=Name.Form, Resources=Dictionary(XObject=Dictionary(parts))
        )
        page.Resources.XObject.F.Resources = Dictionary(Pattern=page.Resources.Pattern)

    content, started = page_of(b"/H gs /F Do " + b"/M Do " * 20_000, change), time.process_time()
    prepare_press_artwork(content)

    assert time.process_time() - started < 4


def test_each_of_many_pages_has_faded_tiles():
    page = page_of(b"/H gs " + FILLED + BOX + b"f " + b"0 0 m n " * 50_000)
    with pikepdf.open(io.BytesIO(page)) as pdf:
        for _ in range(3):
            pdf.pages.append(pdf.pages[0])
        pdf.save(out := io.BytesIO())

    with pikepdf.open(io.BytesIO(prepare_press_artwork(out.getvalue()).pdf)) as pdf:
        assert [len(page.obj.Resources.Pattern) for page in pdf.pages] == [2] * 4


def test_pages_with_the_same_content_have_tiles_of_their_own():
    with pikepdf.open(io.BytesIO(page_of(b"/H gs " + FILLED + BOX + b"f"))) as pdf:
        pdf.pages.append(pdf.pages[0])
        pdf.pages[1].obj.Resources = pdf.make_indirect(Dictionary(pdf.pages[0].obj.Resources))
        pdf.pages[1].obj.Resources.ExtGState = Dictionary(H=Dictionary(ca=0.2))
        out = io.BytesIO()
        pdf.save(out)

    with pikepdf.open(io.BytesIO(prepare_press_artwork(out.getvalue()).pdf)) as pdf:
        for page in pdf.pages:
            named = pikepdf.parse_content_stream(page, "scn")[-1].operands[0]
            assert str(named) in page.obj.Resources.Pattern


def test_pages_without_content_may_share_the_resources_of_others():
    with pikepdf.open(io.BytesIO(page_of(b"/H gs " + FILLED + BOX + b"f"))) as pdf:
        pdf.add_blank_page().obj.Resources = pdf.pages[0].obj.Resources
        del pdf.pages[1].obj.Contents
        out = io.BytesIO()
        pdf.save(out)

    assert len(prepare_press_artwork(out.getvalue()).pages) == 2


def test_tiles_without_a_box_stay_as_they_are():
    with pikepdf.open(io.BytesIO(page_of(b"/H gs " + FILLED + BOX + b"f"))) as pdf:
        del pdf.pages[0].obj.Resources.Pattern.P.BBox
        out = io.BytesIO()
        pdf.save(out)

    with pikepdf.open(io.BytesIO(prepare_press_artwork(out.getvalue()).pdf)) as pdf:
        assert set(pdf.pages[0].obj.Resources.Pattern.keys()) == {"/P"}


@pytest.mark.parametrize("content", [b"0 20 40 20 re f", b"20 0 20 40 re f", b"20 20 20 20 re f"])
@pytest.mark.parametrize("paint", [1, 2])
def test_tiles_that_overlap_show_their_neighbors(content, paint):
    """As TikZ draws the lines of a hatch beyond each step."""

    def change(pdf, page):
        tile = Dictionary(PatternType=1, PaintType=paint, TilingType=1, Resources=Dictionary())
        tile.BBox, tile.XStep, tile.YStep = [0, 0, 40, 40], 20, 20
        color = b"1 0 0 0 k " if paint == 1 else b""
        page.Resources = Dictionary(
            Pattern=Dictionary(P=pdf.make_stream(color + content, tile)),
            ColorSpace=Dictionary(C=pikepdf.Array([Name.Pattern, Name.DeviceCMYK])),
        )

    color = FILLED if paint == 1 else b"/C cs 1 0 0 0 /P scn "
    assert list(shown(made(color + BOX + b"f", change))) == [1, 1]
