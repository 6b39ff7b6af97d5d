"""Pictures a pixel wide: the typesetter drew gigabytes of one that was to fill a box, and a square in its place."""

import io

import pytest
from PIL import Image

from printing.press.pictures import placeholder
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Field, Press, parse_template, render_print, render_proof
from printing.typesetting.scaling import for_proof
from tests.support.printing.made_templates import card
from tests.support.printing.programs import plates

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK, marks=False))
BOX = {"Field": "Photo", "Kind": "Image", "X": 0, "Y": 0, "Width": 80, "Height": 40}


def template(fit):
    return parse_template(card({**BOX, "Fit": fit}), [Field("Photo", type="Image", sub_type="Upload")])


def shades(size):
    out = io.BytesIO()
    Image.linear_gradient("L").rotate(90 if size[0] > size[1] else 0).resize(size).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize("size", [(1, 1500), (1500, 1), (3000, 40)])
@pytest.mark.parametrize("fit", ["cover", "stretch"])
def test_long_picture_is_drawn_as_its_box_shows_it(fit, size):
    made, content = template(fit), shades(size)

    with Image.open(io.BytesIO(for_proof(made.pages[0].boxes[0], content, size))) as shown:
        width, height = shown.size
    proof = render_proof(made, {"Photo": "x"}, {"Photo": content}, mark=None)

    assert max(width / height, height / width) <= 2
    with Image.open(io.BytesIO(proof.pages[0])) as page:
        ends = [page.convert("L").getpixel(place) for place in ((2, 2), (450, 224))]
    spread = abs(ends[0] - ends[1])
    assert spread > 200 if fit == "stretch" else spread < 60


@pytest.mark.parametrize(
    ("size", "sides"), [((3000, 1), (3000, 1)), ((1, 3000), (1, 3000)), ((2, 1), (2, 1))]
)
def test_placeholder_is_as_long_as_its_picture(size, sides):
    with Image.open(io.BytesIO(placeholder(size, "name"))) as shown:
        assert shown.size == sides


@pytest.mark.parametrize("size", [(1, 3000), (3000, 1)])
def test_long_picture_is_no_square_in_print(tmp_path, size):
    printed = render_print(template("contain"), {"Photo": "x"}, {"Photo": shades(size)}, press=COATED)

    found = plates(tmp_path, printed.pdf)

    assert float((found["Black"] > 0.1).mean()) < 0.01
