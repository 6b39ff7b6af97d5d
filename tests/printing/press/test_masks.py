"""What a picture leaves free, and what forms leave to their page, is the same on the plates as in the artwork."""

import io
import zlib

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream, String
from PIL import Image

from printing.artwork.pdf_content import left_in_color
from printing.press import masks
from printing.press.device_colors import srgb_profile
from printing.press.objects import give_resources
from printing.press.profiles import SHIPPED
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_print, render_proof
from tests.support.printing.layered_files import changed
from tests.support.printing.made_templates import card
from tests.support.printing.pdf_making import one_page
from tests.support.printing.preflight_cards import raster
from tests.support.printing.prepared_artwork import prepare_press_artwork
from tests.support.printing.programs import PLATES, plates

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
POINTS = 72 / 25.4
SIZE = ((88.9 + 6) * POINTS, (50.8 + 6) * POINTS)
YELLOW = b"0 0 1 0 k 0 0 400 300 re f "
RED, WHITE = b"\xc8\x00\x00", b"\xff\xff\xff"
HALVES = (WHITE * 20 + RED * 20) * 40


def picture(pdf, samples=HALVES, space=Name.DeviceRGB, bits=8, **values):
    """Of 40 x 40 pixels."""
    made = Stream(pdf, zlib.compress(samples), Type=Name.XObject, Subtype=Name.Image, Width=40, Height=40)
    made.ColorSpace, made.BitsPerComponent, made.Filter = space, bits, Name.FlateDecode
    for name, value in values.items():
        made[f"/{name}"] = value
    return pdf.make_indirect(made)


def in_rgb(pdf):
    return picture(pdf, Mask=Array([255] * 6))


def in_rgb_of_16_bits(pdf):
    wide = b"".join(bytes([level, level]) for level in HALVES)
    return picture(pdf, wide, bits=16, Mask=Array([0xFFFF] * 6))


def by_profile(pdf):
    space = Array([Name.ICCBased, pdf.make_indirect(Stream(pdf, srgb_profile(), N=3))])
    return picture(pdf, space=space, Mask=Array([250, 255] * 3), Decode=Array([0, 1] * 3))


def as_jpeg(pdf):
    out = io.BytesIO()
    Image.frombytes("RGB", (40, 40), HALVES).save(out, "JPEG", quality=100, subsampling=0)
    made = picture(pdf, Mask=Array([250, 255] * 3))
    made.write(out.getvalue(), filter=Array([Name.DCTDecode]))
    return made


def in_inks(pdf):
    return picture(pdf, (b"\0\0\0\0" * 20 + b"\0\xff\xff\0" * 20) * 40, Name.DeviceCMYK, Mask=Array([0] * 8))


def by_palette(pdf):
    space = Array([Name.Indexed, Name.DeviceRGB, 1, String(WHITE + RED)])
    return picture(pdf, (b"\0" * 20 + b"\1" * 20) * 40, space, Mask=Array([0, 0]))


def with_matte(pdf):
    """Red that is mixed with white where it is half clear, and white where it is clear."""
    opacity = picture(pdf, (b"\0" * 20 + b"\x80" * 20) * 40, Name.DeviceGray, Matte=Array([1, 1, 1]))
    return picture(pdf, (WHITE * 20 + b"\xe3\x7f\x7f" * 20) * 40, SMask=opacity)


def in_spot_with_matte(pdf):
    """It keeps its color, of which the matte is one."""
    tint = {
        "/FunctionType": 2,
        "/Domain": Array([0, 1]),
        "/N": 1,
        "/C0": Array([0] * 4),
        "/C1": Array([0, 1, 1, 0]),
    }
    space = Array([Name.Separation, Name.Lack, Name.DeviceCMYK, Dictionary(tint)])
    opacity = picture(pdf, (b"\0" * 20 + b"\x80" * 20) * 40, Name.DeviceGray, Matte=Array([0]))
    return picture(pdf, (b"\0" * 20 + b"\x80" * 20) * 40, space, SMask=opacity)


def damaged_with_matte(pdf):
    opacity = picture(pdf, b"\0", Name.DeviceGray, Matte=Array([1, 1, 1]))
    return picture(pdf, SMask=opacity)


def artwork(make):
    """The left half of the picture leaves the yellow page free; the right half is red."""

    def draw(pdf, page):
        page.Resources = Dictionary(XObject=Dictionary(X=make(pdf)))

    return changed(one_page(YELLOW + b"q 100 0 0 100 60 30 cm /X Do Q", SIZE), draw)


def behind(content):
    return parse_template(card(Background="b") | {"Artwork": {"b": raster(content, "application/pdf")}}, [])


def at(found, x, y):
    """The inks at a place in points from the lower left corner of the artwork, which has 8 mm around it."""
    rows, dots = found["Black"].shape[0], 150 / 72
    left, low = round((x + 8 * POINTS) * dots), round((y + 8 * POINTS) * dots)
    return [float(found[name][rows - low, left]) for name in PLATES]


@pytest.mark.parametrize(
    "make",
    [in_rgb, in_rgb_of_16_bits, by_profile, as_jpeg, in_inks, by_palette, with_matte],
    ids=lambda make: make.__name__,
)
def test_what_a_picture_leaves_free_shows_the_page(tmp_path, make):
    template = behind(artwork(make))

    found = plates(tmp_path, render_print(template, {}, press=COATED).pdf)

    assert at(found, 85, 80) == pytest.approx([0, 0, 1, 0], abs=0.02)
    least = 0.3 if make is with_matte else 0.8
    cyan, magenta, yellow, _ = at(found, 135, 80)
    assert (cyan < 0.2, magenta > least, yellow > 0.8) == (True, True, True)
    with Image.open(io.BytesIO(render_proof(template, {}, mark=None, press=COATED).pages[0])) as proof:
        shown, scale = proof.convert("RGB"), 2
        free, painted = ((x - 3 * POINTS) * scale for x in (85, 135))
        y = shown.height - (80 - 3 * POINTS) * scale
        assert shown.getpixel((round(free), round(y))) == pytest.approx((255, 237, 0), abs=8)
        assert shown.getpixel((round(painted), round(y)))[1] < 170


def test_matte_is_taken_out_of_the_colors():
    prepared = prepare_press_artwork(artwork(with_matte)).pdf

    with pikepdf.open(io.BytesIO(prepared)) as pdf:
        image = pdf.pages[0].obj.Resources.XObject.X
        assert "/Matte" not in image.SMask
        pixels = np.frombuffer(image.read_bytes(), np.uint8).reshape(40, 40, 3)
    assert pixels[5, 30].tolist() == pytest.approx([200, 0, 0], abs=2)


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (lambda pdf: picture(pdf, RED, Mask=Array([255] * 6)), ["a picture in a form that is not read here"]),
        (damaged_with_matte, ["a picture in a form that is not read here"]),
        (in_spot_with_matte, []),
        (by_palette, []),
        (in_rgb, []),
    ],
    ids=["damaged", "damaged matte", "matte of a spot color", "palette", "sound"],
)
def test_mask_that_stays_in_the_colors_of_the_picture_is_found(make, left):
    with pikepdf.open(io.BytesIO(prepare_press_artwork(artwork(make)).pdf)) as pdf:
        assert list(left_in_color(pdf.pages[0].obj.Resources)) == left


def shared(pdf):
    """The mask belongs to a damaged picture as well."""
    whole = with_matte(pdf)
    whole.Other = picture(pdf, RED, SMask=whole.SMask)
    return whole


def test_matte_stays_for_a_picture_that_could_not_be_unmixed():
    with pikepdf.open(io.BytesIO(prepare_press_artwork(artwork(shared)).pdf)) as pdf:
        image = pdf.pages[0].obj.Resources.XObject.X
        assert ("/Matte" in image.SMask, "/Matte" in image.Other.SMask) == (False, True)
        assert image.SMask.read_bytes() == image.Other.SMask.read_bytes()


@pytest.mark.parametrize("values", [{"Width": Name.Wide}, {"Height": 10**9}, {"BitsPerComponent": Name.All}])
def test_picture_with_odd_values_stays_as_it_is(values):
    def odd(make):
        def made(pdf):
            image = make(pdf)
            for name, value in values.items():
                image[f"/{name}"] = value
            return image

        return made

    for make in (in_rgb, with_matte):
        with pikepdf.open(io.BytesIO(prepare_press_artwork(artwork(odd(make))).pdf)) as pdf:
            image = pdf.pages[0].obj.Resources.XObject.X
            assert isinstance(image.get("/Mask"), Array) or "/Matte" in image.SMask


def test_pictures_of_no_more_than_the_memory_are_unmixed(monkeypatch):
    """A poster with a matte was refused: to read it takes more than its process has."""
    monkeypatch.setattr(masks, "WORKING_BYTES", masks.TIMES * 40 * 40 * 3 + 1)

    def two(pdf):
        first = with_matte(pdf)
        first.Other = with_matte(pdf)
        return first

    with pikepdf.open(io.BytesIO(prepare_press_artwork(artwork(two)).pdf)) as pdf:
        image = pdf.pages[0].obj.Resources.XObject.X
        found = ["/Matte" in holder.SMask for holder in (image, image.Other)]
        assert list(left_in_color(Dictionary(XObject=Dictionary(A=image, B=image.Other)))) == [
            "a picture in a form that is not read here"
        ]
    assert sorted(found) == [False, True]


def test_form_without_resources_prints_in_the_colors_of_its_page(tmp_path):
    def draw(pdf, page):
        space = Array([Name.ICCBased, pdf.make_indirect(Stream(pdf, srgb_profile(), N=3))])
        form = Stream(
            pdf, b"/Own cs 0.8 0 0 scn 0 0 80 80 re f", Subtype=Name.Form, BBox=Array([0, 0, 90, 90])
        )
        page.Resources = Dictionary(
            XObject=Dictionary(X=pdf.make_indirect(form)), ColorSpace=Dictionary(Own=space)
        )

    content = changed(
        one_page(YELLOW + b"/Own cs 0 0 0.8 scn 20 20 30 30 re f 1 0 0 1 60 30 cm /X Do", SIZE), draw
    )

    found = plates(tmp_path, render_print(behind(content), {}, press=COATED).pdf)

    cyan, magenta, yellow, _ = at(found, 100, 70)
    assert (cyan < 0.2, magenta > 0.8, yellow > 0.8) == (True, True, True)


def test_form_without_resources_has_those_of_the_first_page_that_draws_it():
    with pikepdf.new() as pdf:
        form = pdf.make_indirect(Stream(pdf, b"", Subtype=Name.Form, BBox=Array([0, 0, 9, 9])))
        for name in ("First", "Second", "Third"):
            pdf.add_blank_page().obj.Resources = Dictionary(XObject=Dictionary(X=form), Of=Name(f"/{name}"))
        give_resources(pdf)
        assert str(form.Resources.Of) == "/First"


def test_color_space_that_a_mask_names_as_well_stays_for_a_form():
    """The mask becomes gray and names it no more; the form keeps its inks. Both have those of the page."""

    def draw(pdf, page):
        space = Array([Name.ICCBased, pdf.make_indirect(Stream(pdf, SHIPPED.read_bytes(), N=4))])
        group = Dictionary(S=Name.Transparency, CS=Name.DeviceCMYK)
        form = Stream(pdf, b"/Own cs 0 0 0 0 scn 0 0 400 300 re f", Subtype=Name.Form, Group=group)
        form.BBox = Array([0, 0, 400, 300])
        mask = Dictionary(S=Name.Luminosity, G=pdf.make_indirect(form))
        inner = Stream(pdf, b"/Own cs 0 1 1 0 scn 60 30 100 100 re f", Subtype=Name.Form, BBox=form.BBox)
        page.Resources = Dictionary(
            ExtGState=Dictionary(GS=Dictionary(SMask=mask)),
            ColorSpace=Dictionary(Own=space),
            XObject=Dictionary(X=pdf.make_indirect(inner)),
        )

    content = changed(one_page(b"/GS gs /X Do", SIZE), draw)

    with pikepdf.open(io.BytesIO(render_print(behind(content), {}, press=COATED).pdf)) as pdf:
        [drawing] = [
            item for item in pdf.objects if isinstance(item, Stream) and b"/Own cs" in item.read_bytes()
        ]
        assert "/Own" in drawing.Resources.ColorSpace


@pytest.mark.parametrize("first", ["/A", "/Z"], ids=["mask first", "shown first"])
def test_form_that_another_form_has_as_its_mask_is_shown_in_its_colors(tmp_path, first):
    def draw(pdf, page):
        group = Dictionary(S=Name.Transparency, CS=Name.DeviceRGB, I=True)
        form = Stream(pdf, b"1 0 0 rg 60 30 100 100 re f", Subtype=Name.Form, Group=group)
        form.BBox = Array([0, 0, 400, 300])
        both = pdf.make_indirect(form)
        masked = Stream(pdf, b"/GS gs 0 0 1 rg 0 0 20 20 re f", Subtype=Name.Form, BBox=form.BBox)
        state = Dictionary(SMask=Dictionary(S=Name.Luminosity, G=both))
        masked.Resources = Dictionary(ExtGState=Dictionary(GS=state))
        page.Resources = Dictionary(XObject=Dictionary({first: pdf.make_indirect(masked), "/M": both}))

    content = changed(one_page(f"{first} Do /M Do".encode(), SIZE), draw)

    found = plates(tmp_path, render_print(behind(content), {}, press=COATED).pdf)

    cyan, magenta, yellow, _ = at(found, 110, 80)
    assert (cyan < 0.2, magenta > 0.8, yellow > 0.8) == (True, True, True)
