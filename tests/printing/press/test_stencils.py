"""Stencils are as clear in proofs as in print."""

import io

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image

from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_print, render_proof
from tests.support.printing.made_templates import card
from tests.support.printing.plate_samples import artwork, made
from tests.support.printing.prepared_artwork import prepare_press_artwork
from tests.support.printing.programs import PLATES, plates

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
DRAWN = b"q 160 0 0 110 60 30 cm /M Do Q"


def stencil_page(content):
    def change(pdf, page):
        stencil = pdf.make_stream(
            bytes(8), Type=Name.XObject, Subtype=Name.Image, ImageMask=True, Width=8, Height=8
        )
        form = pdf.make_stream(DRAWN, Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 300, 200])
        page.Resources = Dictionary(
            XObject=Dictionary(M=stencil, F=form),
            ExtGState=Dictionary(H=Dictionary(ca=0.5), O=Dictionary(ca=1)),
            ColorSpace=Dictionary(C=Array([Name.Indexed, Name.DeviceCMYK, 0, pikepdf.String("\xff\0\0\0")])),
        )

    return made(content, change)


def template_of(page):
    return parse_template(card(Background="b") | {"Artwork": {"b": artwork(page)}}, [])


def shown(template):
    """The red in the middle, without the ink of cyan."""
    for press in (None, COATED):
        page = render_proof(template, {}, mark=None, press=press).pages[0]
        with Image.open(io.BytesIO(page)) as opened:
            yield opened.convert("RGB").getpixel((240, 160))[0]


@pytest.mark.parametrize(
    ("content", "cyan"),
    [
        (b"/H gs 1 0 0 0 k ", 0.5),
        (b"1 0 0 0 k /H gs 0 0 1 0 k 1 0 0 0 k ", 0.5),
        (b"/H gs /C cs 0 sc ", 0.5),
        (b"/H gs 1 0 0 0 k q 0 0 1 0 k /O gs Q ", 0.5),
        (b"/H gs 1 0 0 0 k /O gs ", 1),
    ],
)
def test_stencils_are_as_clear_as_the_state_says(tmp_path, content, cyan):
    """As programs of layout write pictures of one color that are half-clear."""
    template = template_of(stencil_page(content + DRAWN))

    of_state = list(shown(template_of(stencil_page(b"%g 0 0 0 k 60 30 160 110 re f" % cyan))))
    assert list(shown(template)) == pytest.approx(of_state, abs=20)

    found = plates(tmp_path, render_print(template, {}, press=COATED).pdf, dpi=72)
    inks = [plate[plate.shape[0] // 2, plate.shape[1] // 2] for plate in (found[name] for name in PLATES)]
    assert inks == pytest.approx([cyan, 0, 0, 0], abs=0.02)


def test_stencils_in_a_color_that_a_form_inherits_stay_without_a_group():
    prepared = prepare_press_artwork(stencil_page(b"/H gs 1 0 0 0 k /F Do")).pdf
    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        assert set(pdf.pages[0].obj.Resources.XObject.F.Resources.XObject) == {"/F", "/M"}


def test_pages_with_the_same_resources_have_stencils_of_their_own():
    with pikepdf.open(io.BytesIO(stencil_page(b"/H gs 1 0 0 0 k " + DRAWN))) as pdf:
        pdf.pages[0].obj.Resources = pdf.make_indirect(pdf.pages[0].obj.Resources)
        pdf.pages.append(pdf.pages[0])
        pdf.pages[1].obj.Contents = pdf.make_stream(b"/H gs 0 0 1 0 k " + DRAWN)
        pdf.save(out := io.BytesIO())

    with pikepdf.open(io.BytesIO(prepare_press_artwork(out.getvalue()).pdf)) as pdf:
        for page, color in zip(pdf.pages, (b"1 0 0 0 k", b"0 0 1 0 k"), strict=True):
            (name,) = pikepdf.parse_content_stream(page, "Do")[0].operands
            assert page.obj.Resources.XObject[name].read_bytes().startswith(color)
