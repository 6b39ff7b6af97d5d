"""A press proof is drawn from the print file: what blends in inks, what is hidden and what overprints."""

import io
import re

import numpy as np
import pikepdf
import pytest
from pikepdf import Dictionary, Name
from PIL import Image

from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, RenderingFailed, parse_template, render_print, render_proof
from tests.support.printing.layered_files import HIDDEN, encrypted
from tests.support.printing.made_templates import card, words_template
from tests.support.printing.plate_samples import artwork, made, samples
from tests.support.printing.preflight_cards import pdf, raster

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
RED = bytes([204, 68, 51])
YELLOW_OVER_CYAN = b"1 0 0 0 k 0 0 140 170 re f /GS gs 0 0 1 0 k 60 0 80 170 re f"


def behind(artwork):
    return parse_template(card(Background="back") | {"Artwork": {"back": artwork}}, [])


def color(png, x, y):
    """At a place in millimetres."""
    with Image.open(io.BytesIO(png)) as picture:
        return picture.convert("RGB").getpixel((round(x / 25.4 * 144), round(y / 25.4 * 144)))


def test_inks_that_multiply_are_mixed_as_on_the_press():
    multiply = Dictionary(GS=Dictionary(BM=Name.Multiply))

    proof = render_proof(behind(pdf(YELLOW_OVER_CYAN, ExtGState=multiply)), {}, mark=None, press=COATED)

    green = color(proof.pages[0], 30, 20)
    assert green[1] > 2 * green[0]
    assert green == pytest.approx((0, 150, 64), abs=6)


@pytest.mark.parametrize("name", ["palette of RGB", "picture of a palette of Lab"])
def test_colors_of_a_palette_are_printed_as_they_are_shown(name):
    template = behind(artwork(samples()[name]))

    shown, printed = (render_proof(template, {}, mark=None, press=press).pages[0] for press in (None, COATED))

    for place in ((30, 25), (60, 25)):
        assert color(printed, *place) == pytest.approx(color(shown, *place), abs=40)


def test_number_beyond_a_palette_is_that_of_its_highest_color():
    colors = pikepdf.String(bytes([200, 150, 120, *RED, 0, 0, 0]))

    def make(pdf, page):
        image = pikepdf.Stream(pdf, bytes([2]), Type=Name.XObject, Subtype=Name.Image)
        image.Width = image.Height = 1
        image.BitsPerComponent = 8
        image.ColorSpace = pikepdf.Array([Name.Indexed, Name.DeviceRGB, 1, colors])
        page.Resources = Dictionary(XObject=Dictionary(S=pdf.make_indirect(image)))

    template = behind(artwork(made(b"300 0 0 200 0 0 cm /S Do", make)))
    shown, printed = (render_proof(template, {}, mark=None, press=press).pages[0] for press in (None, COATED))

    assert color(shown, 30, 20) == pytest.approx(tuple(RED), abs=4)
    assert color(printed, 30, 20) == pytest.approx(tuple(RED), abs=40)


def mesh(pdf, page):
    corners = [(0, 0), (65535, 0), (0, 65535), (0, 65535), (65535, 0), (65535, 65535)]
    data = b"".join(b"\0" + x.to_bytes(2) + y.to_bytes(2) + RED for x, y in corners)
    shading = pikepdf.Stream(pdf, data, ShadingType=4, ColorSpace=Name.DeviceRGB)
    shading.BitsPerCoordinate, shading.BitsPerComponent, shading.BitsPerFlag = 16, 8, 8
    shading.Decode = [0, 300, 0, 200, *([0, 1] * 3)]
    page.Resources = Dictionary(Shading=Dictionary(S=pdf.make_indirect(shading)))


def picture_of_four_bits(pdf, page):
    image = pikepdf.Stream(pdf, b"\xd4\x30", Type=Name.XObject, Subtype=Name.Image, Width=1, Height=1)
    image.ColorSpace, image.BitsPerComponent = Name.DeviceRGB, 4
    page.Resources = Dictionary(XObject=Dictionary(S=pdf.make_indirect(image)))


@pytest.mark.parametrize(
    ("make", "content"),
    [(mesh, b"/S sh"), (picture_of_four_bits, b"300 0 0 200 0 0 cm /S Do")],
    ids=["mesh", "picture"],
)
def test_what_stays_in_rgb_is_no_darker_in_the_proof_than_on_the_sheet(make, content):
    """Its shades of gray were on the black plate as well."""
    template = behind(artwork(made(content, make)))

    shown, printed = (render_proof(template, {}, mark=None, press=press).pages[0] for press in (None, COATED))

    assert color(printed, 30, 20) == pytest.approx(color(shown, 30, 20), abs=40)


def test_jpeg_whose_colors_are_no_ycbcr_is_printed_as_it_is_shown():
    content = io.BytesIO()
    Image.new("YCbCr", (8, 8), tuple(RED)).save(content, "JPEG")

    def make(pdf, page):
        image = pikepdf.Stream(pdf, content.getvalue(), Type=Name.XObject, Subtype=Name.Image)
        image.Width = image.Height = image.BitsPerComponent = 8
        image.ColorSpace, image.Filter = Name.DeviceRGB, Name.DCTDecode
        image.DecodeParms = Dictionary(ColorTransform=0)
        page.Resources = Dictionary(XObject=Dictionary(S=pdf.make_indirect(image)))

    template = behind(artwork(made(b"300 0 0 200 0 0 cm /S Do", make)))
    shown, printed = (render_proof(template, {}, mark=None, press=press).pages[0] for press in (None, COATED))

    assert color(shown, 30, 20) == pytest.approx(tuple(RED), abs=4)
    assert color(printed, 30, 20) == pytest.approx(tuple(RED), abs=40)


def test_tiles_lie_alike_in_both_directions():
    def page_with(step):
        def make(pdf, page):
            tile = Dictionary(PatternType=1, PaintType=1, TilingType=1, Resources=Dictionary())
            tile.BBox, tile.XStep, tile.YStep = [0, 0, 40, 40], step, step
            drawn = pdf.make_stream(b"0 0 1 0 k 5 5 20 10 re f", tile)
            page.Resources = Dictionary(Pattern=Dictionary(P=drawn))

        template = behind(artwork(made(b"/Pattern cs /P scn 0 0 300 200 re f", make)))
        return render_proof(template, {}, mark=None).pages[0]

    assert page_with(-40.5) == page_with(40.5)


def test_overprint_is_switched_off_in_file_and_proof_alike():
    overprint = Dictionary(GS=Dictionary(op=True, OP=True, OPM=1))
    template = behind(pdf(YELLOW_OVER_CYAN, ExtGState=overprint))

    printed = render_print(template, {}, press=COATED).pdf

    assert b"/OPM" not in printed
    assert b"/op true" not in printed
    for press in (None, COATED):
        yellow = color(render_proof(template, {}, mark=None, press=press).pages[0], 30, 20)
        assert min(yellow[:2]) > 200 > 60 > yellow[2]


def test_overprint_stays_where_the_preset_keeps_it():
    overprint = Dictionary(GS=Dictionary(op=True, OP=True, OPM=1))
    press = Press(rules=PresetRules(keeps_overprint=True))

    printed = render_print(behind(pdf(YELLOW_OVER_CYAN, ExtGState=overprint)), {}, press=press).pdf

    assert b"/op true" in printed


@pytest.mark.parametrize("policy", ColorPolicy)
def test_hidden_layer_is_neither_in_print_file_nor_in_proofs(policy):
    press = Press(rules=PresetRules(policy=policy))
    page = {"WidthMM": 100 / 72 * 25.4, "HeightMM": 100 / 72 * 25.4, "BleedMM": 0}
    artwork = raster(HIDDEN["off in the default configuration"], "application/pdf")
    template = parse_template(card(Background="back", **page) | {"Artwork": {"back": artwork}}, [])

    printed = render_print(template, {}, press=press).pdf

    with pikepdf.open(io.BytesIO(printed)) as opened:
        drawn = [item.read_bytes() for item in opened.objects if isinstance(item, pikepdf.Stream)]
    assert not any(re.search(rb"50 0 50 100 re\s+f", content) for content in drawn)
    for proof in (render_proof(template, {}, mark=None), render_proof(template, {}, mark=None, press=press)):
        assert min(color(proof.pages[0], 26, 17)) > 250
        assert color(proof.pages[0], 9, 17)[1] < 100


def test_pdf_of_a_proof_keeps_letters_and_shows_blending_as_a_picture():
    plain = render_proof(words_template(), {"Words": "Dana"}, press=COATED)
    blended = behind(pdf(YELLOW_OVER_CYAN, ExtGState=Dictionary(GS=Dictionary(BM=Name.Multiply))))

    assert b"/Font" in plain.pdf
    with pikepdf.open(io.BytesIO(render_proof(blended, {}, press=COATED).pdf)) as opened:
        [page] = opened.pages
        assert page.get_images()
        size = [round(float(side) / 72 * 25.4, 1) for side in page.mediabox][2:]
    assert size == [88.9, 50.8]


def test_screen_proof_and_press_proof_have_the_same_size():
    template = words_template()

    shown = [render_proof(template, {"Words": "Dana"}, press=press).pages[0] for press in (None, COATED)]

    sizes = {Image.open(io.BytesIO(png)).size for png in shown}
    assert len(sizes) == 1
    one, other = (np.asarray(Image.open(io.BytesIO(png)).convert("L"), float) for png in shown)
    assert np.abs(one - other).mean() < 2


def test_artwork_with_a_password_is_refused_by_that_word():
    artwork = raster(encrypted(user="secret", owner="owner"), "application/pdf")

    with pytest.raises(RenderingFailed, match=r"^back: The PDF has a password"):
        render_proof(behind(artwork), {})
