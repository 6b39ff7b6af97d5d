"""Where boxes stand and what they draw, seen in the pixels."""

import base64
import io

import pypdf
import pytest
from PIL import Image, ImageChops

from printing.pictures import ORIENTATION
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Field, Press, parse_template, render_print, render_proof
from tests.support.printing.made_templates import SVG, card, picture, text_box, words_template
from tests.support.printing.programs import run

NAVY = (11, 37, 69)
# A box of 78 x 40 mm whose corner is at 5 x 5 mm, in pixels of a proof.
LEFT, TOP, RIGHT, BOTTOM = (round(mm / 25.4 * 144) for mm in (5, 5, 83, 45))


def drawn(template, **values):
    return Image.open(io.BytesIO(render_proof(template, values, mark=None).pages[0])).convert("RGB")


def ink(image):
    return ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox()


def navy_pdf():
    """Typst's own, of the size of a card with its bleed."""
    page = {"WidthMM": 94.9, "HeightMM": 56.8, "BleedMM": 0, "Background": "card.svg", "Boxes": []}
    artwork = {"card.svg": {"MediaType": "image/svg+xml", "Data": SVG}}
    return render_proof(parse_template({"Pages": [page], "Artwork": artwork}, []), {}, mark=None).pdf


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        ("image/svg+xml", lambda: SVG),
        ("image/png", lambda: picture(949, 568, "PNG", NAVY)),
        ("image/jpeg", lambda: picture(949, 568, "JPEG", NAVY)),
        ("application/pdf", navy_pdf),
    ],
)
def test_background_of_every_kind_covers_the_page(media_type, content):
    data = content()
    entry = {
        "MediaType": media_type,
        "Data": data if isinstance(data, str) else base64.b64encode(data).decode(),
    }
    value = card(text_box(), Background="one") | {"Artwork": {"one": entry}}

    image = drawn(parse_template(value, [Field("Words")]), Words="")

    for place in ((1, 1), (502, 1), (1, 286), (502, 286), (250, 140)):
        assert max(abs(a - b) for a, b in zip(image.getpixel(place), NAVY, strict=True)) < 4


@pytest.mark.parametrize("vertical", ["top", "middle", "bottom"])
@pytest.mark.parametrize("align", ["left", "center", "right"])
def test_text_stands_where_its_alignment_says(align, vertical):
    x0, y0, x1, y1 = ink(drawn(words_template(Align=align, VerticalAlign=vertical, Size=20), Words="HHH"))

    gaps = {"left": x0 - LEFT, "center": (x0 + x1 - LEFT - RIGHT) / 2, "right": RIGHT - x1}
    heights = {"top": y0 - TOP, "middle": (y0 + y1 - TOP - BOTTOM) / 2, "bottom": BOTTOM - y1}
    assert abs(gaps[align]) <= 5
    assert abs(heights[vertical]) <= 12
    assert [name for name, gap in gaps.items() if abs(gap) <= 5] == [align]


def test_lines_stand_as_far_apart_as_the_template_says():
    tight, wide = (words_template(Size=20, LineSpacing=spacing) for spacing in (1.0, 2.0))

    heights = [box[3] - box[1] for box in (ink(drawn(spacing, Words="H\nH")) for spacing in (tight, wide))]

    assert heights[1] - heights[0] == pytest.approx(20 * 2, abs=2)


def test_family_weight_and_slant_are_those_of_the_template():
    template = parse_template(
        card(
            text_box(Field="A", Font="Inter", Weight=700, Height=10),
            text_box(Field="B", Font="Playfair Display", Italic=True, Height=10, Y=20),
        ),
        [Field("A"), Field("B")],
    )

    page = pypdf.PdfReader(io.BytesIO(render_print(template, {"A": "Bold", "B": "Slanted"}).pdf)).pages[0]
    names = {font.get_object()["/BaseFont"].split("+")[1] for font in page["/Resources"]["/Font"].values()}
    assert any(name.startswith("Inter") for name in names)
    assert any(name.startswith("PlayfairDisplay") and "Italic" in name for name in names)
    thin, bold = (words_template(Font="Inter", Weight=weight, Size=30) for weight in (300, 800))
    dark = [sum(drawn(font, Words="HHHH").convert("L").histogram()[:128]) for font in (thin, bold)]
    assert dark[1] > 1.5 * dark[0]


def test_rotated_text_stands_upright():
    x0, y0, x1, y1 = ink(drawn(words_template(Rotation=90, Size=20, VerticalAlign="middle"), Words="HHHHH"))

    assert y1 - y0 > 2 * (x1 - x0)


@pytest.mark.parametrize(
    ("fit", "size"), [("contain", (71, 142)), ("cover", (142, 142)), ("stretch", (142, 142))]
)
def test_picture_of_the_gallery_fits_as_the_template_says(fit, size):
    box = {"Field": "Photo", "Kind": "Image", "X": 10, "Y": 10, "Width": 25, "Height": 25, "Fit": fit}
    entry = {"MediaType": "image/png", "Data": base64.b64encode(picture(150, 300)).decode()}
    value = card(box) | {"Gallery": {"Tall": entry}}
    template = parse_template(value, [Field("Photo", type="Image", sub_type="Gallery")])

    x0, y0, x1, y1 = ink(drawn(template, Photo="Tall"))

    assert (x1 - x0, y1 - y0) == (pytest.approx(size[0], abs=2), pytest.approx(size[1], abs=2))


@pytest.mark.parametrize(("mode", "policy"), [("RGB", ColorPolicy.CMYK), ("CMYK", ColorPolicy.MANAGED)])
def test_picture_turned_by_its_metadata_has_the_same_shape_in_proof_and_print(tmp_path, mode, policy):
    """As phones store photos that were taken upright."""
    turned = Image.Exif()
    turned[ORIENTATION] = 6
    Image.new(mode, (300, 150), "black").save(content := io.BytesIO(), "JPEG", exif=turned)
    entry = {"MediaType": "image/jpeg", "Data": base64.b64encode(content.getvalue()).decode()}
    box = {"Field": "Photo", "Kind": "Image", "X": 10, "Y": 10, "Width": 25, "Height": 25}
    value = card(box) | {"Gallery": {"Tall": entry}}
    template = parse_template(value, [Field("Photo", type="Image", sub_type="Gallery")])
    press = Press(rules=PresetRules(policy=policy, marks=False))

    (tmp_path / "print.pdf").write_bytes(render_print(template, {"Photo": "Tall"}, press=press).pdf)
    run("mutool", "draw", "-q", "-r", "144", "-o", f"{tmp_path}/print.png", f"{tmp_path}/print.pdf")

    with Image.open(tmp_path / "print.png") as printed:
        for x0, y0, x1, y1 in (ink(drawn(template, Photo="Tall")), ink(printed.convert("RGB"))):
            assert (x1 - x0, y1 - y0) == (pytest.approx(71, abs=2), pytest.approx(142, abs=2))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB"])
def test_upright_png_with_metadata_is_printed(mode):
    upright = Image.Exif()
    upright[ORIENTATION] = 1
    Image.new(mode, (300, 150)).save(content := io.BytesIO(), "PNG", exif=upright)
    entry = {"MediaType": "image/png", "Data": base64.b64encode(content.getvalue()).decode()}
    box = {"Field": "Photo", "Kind": "Image", "X": 10, "Y": 10, "Width": 25, "Height": 25}
    value = card(box) | {"Gallery": {"Wide": entry}}
    template = parse_template(value, [Field("Photo", type="Image", sub_type="Gallery")])

    printed = render_print(
        template, {"Photo": "Wide"}, press=Press(rules=PresetRules(policy=ColorPolicy.CMYK))
    )

    assert pypdf.PdfReader(io.BytesIO(printed.pdf)).pages[0].images


def test_text_that_is_clipped_shows_its_beginning_at_its_size():
    image = drawn(words_template(Fit="clip", Size=20, Height=8), Words="HHH\nHHH\nHHH")

    x0, y0, x1, y1 = ink(image)
    assert y1 <= round(13 / 25.4 * 144) + 1
    whole = ink(drawn(words_template(Size=20), Words="HHH"))
    assert (x0, y0, x1) == whole[:3]
