"""Groups are shown and printed alike: taken apart where they are drawn plainly, and else mixed as a whole."""

import io

import pikepdf
import pytest
from pikepdf import Dictionary, Name
from PIL import Image

from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_proof
from tests.support.printing.made_templates import card
from tests.support.printing.plate_samples import SIZE, artwork, made
from tests.support.printing.prepared_artwork import prepare_press_artwork

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
CYAN, YELLOW = b".6 0 0 0 k 60 30 90 90 re f ", b"0 0 .8 0 k 100 50 110 90 re f "
OPEN = {"S": Name.Transparency, "CS": Name.DeviceCMYK}
STATES = {
    "M": Dictionary(BM=Name.Multiply),
    "H": Dictionary(ca=0.5),
    "L": Dictionary(CA=0.2),
    "N": Dictionary(BM=Name.Normal, ca=1, SMask=Name("/None")),
}


def form(pdf, content, *, group=None, **resources):
    entries = {} if group is None else {"Group": Dictionary(**OPEN, **group)}
    states = Dictionary(**STATES)
    given = Dictionary(ExtGState=states, **resources)
    return pdf.make_stream(
        content, Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, *SIZE], Resources=given, **entries
    )


def file(content, inner, *, group=None, around=b""):
    """A page that draws the form F, or a form that draws it in its way."""

    def change(pdf, page):
        drawn = form(pdf, inner, group=group)
        if around:
            drawn = form(pdf, around, XObject=Dictionary(F=drawn))
        mask = Dictionary(S=Name.Luminosity, G=form(pdf, b"1 g 0 0 300 170 re f", group={}))
        page.Resources = Dictionary(
            ExtGState=Dictionary(**STATES, S=Dictionary(SMask=mask)), XObject=Dictionary(F=drawn)
        )

    return made(content, change)


def shown(content):
    """At the cyan alone, the yellow alone and where both are; on the screen and in print."""
    template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(content)}}, [])
    for press in (None, COATED):
        [page] = render_proof(template, {}, mark=None, press=press).pages
        with Image.open(io.BytesIO(page)) as opened:
            picture = opened.convert("RGB")
        yield [picture.getpixel(place) for place in ((120, 220), (370, 100), (240, 160))]


@pytest.mark.parametrize("content", [b"/F Do", b"/H gs /N gs /F Do", b"q /H gs Q /F Do"])
def test_group_that_is_drawn_plainly_mixes_with_what_is_below(content):
    below = CYAN + content

    for with_group, without in zip(
        shown(file(below, b"/M gs " + YELLOW, group={})), shown(file(below, b"/M gs " + YELLOW)), strict=True
    ):
        assert with_group == without
        cyan, yellow, both = with_group
        assert both[0] < yellow[0] - 60
        assert both[2] < cyan[2] - 60


@pytest.mark.parametrize("around", [b"", b"/F Do"])
def test_group_that_is_half_clear_does_not_show_its_parts_through_each_other(around):
    content = file(b"/H gs /F Do", CYAN + YELLOW + b"/M gs", group={}, around=around)

    for _, yellow, both in shown(content):
        assert both == pytest.approx(yellow, abs=3)


@pytest.mark.parametrize(
    ("content", "group"),
    [
        (b"/H gs /F Do", {}),
        (b"/M gs /F Do", {}),
        (b"/L gs /F Do", {}),
        (b"/S gs /F Do", {}),
        (b"/F Do", {"I": True}),
        (b"/F Do", {"K": True}),
    ],
)
def test_group_that_is_mixed_as_a_whole_and_group_of_a_mask_stay(content, group):
    prepared = prepare_press_artwork(file(content, b"/M gs " + YELLOW, group=group)).pdf

    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        resources = pdf.pages[0].obj.Resources
        assert "/Group" in resources.XObject.F
        assert "/Group" in resources.ExtGState.S.SMask.G


def test_group_in_a_letter_stays():
    def change(pdf, page):
        glyph = pdf.make_stream(b"1000 0 d0 /F Do")
        font = Dictionary(
            Type=Name.Font,
            Subtype=Name.Type3,
            FontMatrix=[0.001, 0, 0, 0.001, 0, 0],
            FontBBox=[0, 0, 1000, 1000],
            CharProcs=Dictionary(a=glyph),
            Encoding=Dictionary(Differences=[97, Name.a]),
            FirstChar=97,
            LastChar=97,
            Widths=[1000],
            Resources=Dictionary(XObject=Dictionary(F=form(pdf, YELLOW, group={}))),
        )
        page.Resources = Dictionary(
            Font=Dictionary(T=pdf.make_indirect(font)), ExtGState=Dictionary(**STATES)
        )

    prepared = prepare_press_artwork(made(b"/H gs BT /T 20 Tf (a) Tj ET", change)).pdf

    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        assert "/Group" in pdf.pages[0].obj.Resources.Font.T.Resources.XObject.F
