"""RGB of PDF artwork that has a profile of its own is printed as it is shown."""

import io
import re
import zlib

import numpy as np
import pytest
from pikepdf import Array, Dictionary, Name, Stream, String
from PIL import Image

from printing.press.device_colors import srgb_profile
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_print, render_proof
from tests.support.printing.layered_files import changed
from tests.support.printing.made_templates import card
from tests.support.printing.pdf_making import one_page
from tests.support.printing.preflight_cards import raster
from tests.support.printing.programs import PLATES, plates

POINTS = 72 / 25.4
SIZE = ((88.9 + 6) * POINTS, (50.8 + 6) * POINTS)
RED = b"\xff\0\0"
# The left edges of squares of 30 points, by what draws them in the red of the profile.
DRAWN = {"content": 20, "picture": 60, "palette": 100, "gradient": 140, "spot color": 180}
GRAY_AT = 220
DRAWING = (
    b"/Own cs 1 0 0 sc 20 40 30 30 re f q 30 0 0 30 60 40 cm /Picture Do Q q 30 0 0 30 100 40 cm /Few Do Q"
    b" q 140 40 30 30 re W n /Run sh Q /Spot cs 1 sc 180 40 30 30 re f /Own cs 0.5 0.5 0.5 sc 220 40 20 30 re f"
)


def swapped() -> bytes:
    """A profile whose red is the blue of sRGB, and the other way around."""
    names = {b"rXYZ": b"bXYZ", b"bXYZ": b"rXYZ"}
    return re.sub(b"[rb]XYZ", lambda found: names[found[0]], srgb_profile())


def picture(pdf, samples, space):
    made = Stream(pdf, zlib.compress(samples), Type=Name.XObject, Subtype=Name.Image, Width=4, Height=4)
    made.ColorSpace, made.BitsPerComponent, made.Filter = space, 8, Name.FlateDecode
    return pdf.make_indirect(made)


def artwork(profile: bytes) -> bytes:
    def draw(pdf, page):
        own = Array([Name.ICCBased, pdf.make_indirect(Stream(pdf, profile, N=3))])
        run = {"/FunctionType": 2, "/Domain": Array([0, 1]), "/N": 1, "/C0": Array([1, 0, 0])}
        tint = Dictionary({**run, "/C0": Array([1, 1, 1]), "/C1": Array([1, 0, 0])})
        shading = Dictionary(ShadingType=2, ColorSpace=own, Coords=Array([140, 0, 170, 0]))
        shading.Function = Dictionary({**run, "/C1": Array([1, 0, 0])})
        palette = Array([Name.Indexed, own, 0, String(RED)])
        page.Resources = Dictionary(
            ColorSpace=Dictionary(Own=own, Spot=Array([Name.Separation, Name.Sky, own, tint])),
            XObject=Dictionary(Picture=picture(pdf, RED * 16, own), Few=picture(pdf, b"\0" * 16, palette)),
            Shading=Dictionary(Run=pdf.make_indirect(shading)),
        )

    return changed(one_page(DRAWING, SIZE), draw)


def behind(content):
    return parse_template(card(Background="b") | {"Artwork": {"b": raster(content, "application/pdf")}}, [])


def inks(found, x, y=55):
    """At a place in points from the lower left corner of the artwork, which has 8 mm around it."""
    rows, dots = found["Black"].shape[0], 150 / 72
    left, low = round((x + 8 * POINTS) * dots), round((y + 8 * POINTS) * dots)
    return [float(found[name][rows - low, left]) for name in PLATES]


def shown(template, press, x, y=55):
    content = render_proof(template, {}, mark=None, press=press).pages[0]
    with Image.open(io.BytesIO(content)) as proof:
        place = round((x - 3 * POINTS) * 2), round(proof.height - (y - 3 * POINTS) * 2)
        return proof.convert("RGB").getpixel(place)


@pytest.mark.parametrize("policy", ColorPolicy)
def test_rgb_with_a_profile_is_printed_in_the_colors_of_its_proof(tmp_path, policy):
    template, press = behind(artwork(swapped())), Press(rules=PresetRules(policy=policy))

    found = plates(tmp_path, render_print(template, {}, press=press).pdf)

    for name, left in DRAWN.items():
        cyan, magenta, yellow, _ = inks(found, left + 15)
        has_plate = name == "spot color"
        assert has_plate or (cyan > 0.8, magenta > 0.6, yellow < 0.2) == (True, True, True), name
        for drawn_for in (None, press):
            red, _, blue = shown(template, drawn_for, left + 15)
            assert blue > red + 60, (name, drawn_for)


def test_gray_with_a_profile_is_black_alone(tmp_path):
    press = Press(rules=PresetRules(policy=ColorPolicy.CMYK))

    found = plates(tmp_path, render_print(behind(artwork(swapped())), {}, press=press).pdf)

    assert inks(found, GRAY_AT + 10)[:3] == pytest.approx([0, 0, 0], abs=0.01)
    assert 0.2 < inks(found, GRAY_AT + 10)[3] < 0.8


@pytest.mark.parametrize("profile", [b"", b"no profile", swapped()[:400]], ids=["empty", "other", "cut off"])
def test_rgb_with_a_damaged_profile_is_printed_as_srgb(tmp_path, profile):
    press = Press(rules=PresetRules(policy=ColorPolicy.CMYK))

    found = plates(tmp_path, render_print(behind(artwork(profile)), {}, press=press).pdf)

    assert np.array(inks(found, DRAWN["content"] + 15)) == pytest.approx([0, 1, 1, 0], abs=0.25)
