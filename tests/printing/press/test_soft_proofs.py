"""What soft proofs and pictures of print files look like on a screen."""

from io import BytesIO

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image

from printing.press.rules import ColorPolicy, PresetRules
from printing.press.screen import fit_pictures
from printing.typesetting import Field, Press, parse_template, render_pdf_page, render_print, render_proof
from tests.support.printing.made_templates import card
from tests.support.printing.pdf_making import one_page

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
PAGE = {"WidthMM": 228.6, "HeightMM": 100, "BleedMM": 3}
PHOTO = {"Field": "Photo", "Kind": "Image", "X": 0, "Y": 0, "Width": 228.6, "Height": 100, "Fit": "stretch"}


@pytest.fixture(scope="module")
def ramp():
    """From dark to light over the width: 1.25 pixels for each of the screen."""
    across = np.linspace(40, 220, 1620).astype(np.uint8)
    out = BytesIO()
    Image.fromarray(np.tile(across[None, :, None], (709, 1, 3))).save(out, "PNG")
    return out.getvalue()


def steps(png):
    row = np.asarray(Image.open(BytesIO(png)).convert("L"), dtype=int)[200, 30:-30]
    return int(np.abs(np.diff(row)).max())


def test_photographs_have_no_stripes(ramp):
    template = parse_template(card(PHOTO, **PAGE), [Field("Photo", type="Image", sub_type="Upload")])
    job = (template, {"Photo": "x"}, {"Photo": ramp})

    proof = render_proof(*job, mark=None, press=COATED)
    printed = render_print(*job, press=COATED).pdf

    assert steps(proof.pages[0]) <= 3
    assert steps(render_pdf_page(printed, 0, pixels=1296, trimmed=True)) <= 3


@pytest.mark.parametrize("ground", ["#ffffff", "#336699"])
def test_mark_is_as_faint_in_a_press_proof_as_on_screen(ground):
    box = {
        "Text": " ",
        "Kind": "Text",
        "X": 0,
        "Y": 0,
        "Width": 88.9,
        "Height": 50.8,
        "Size": 5,
        "Background": ground,
    }
    template = parse_template(card(box), [])

    def darkness(press):
        marked, plain = (
            np.asarray(
                Image.open(BytesIO(render_proof(template, {}, mark=mark, press=press).pages[0])).convert("L"),
                dtype=int,
            )
            for mark in ("PROOF", None)
        )
        return np.abs(marked - plain).mean()

    assert darkness(COATED) == pytest.approx(darkness(None), rel=0.25)


def test_pdf_without_large_pictures_stays_as_it_is():
    content = one_page(b"1 0 0 rg 0 0 50 50 re f", (100, 100))

    assert fit_pictures(content, 144) == content


@pytest.mark.parametrize("masked", [{"Mask": [0, 9] * 3}, {"SMask": {"Matte": [0, 0, 0]}}])
def test_picture_whose_mask_is_in_its_own_colors_keeps_its_pixels(masked):
    """One that is too large for preparation to resolve: other pixels would be masked."""
    with pikepdf.new() as pdf:
        page = pdf.add_blank_page(page_size=(72, 72)).obj
        made = pdf.make_stream(
            bytes(300 * 300 * 3),
            Subtype=Name.Image,
            Width=300,
            Height=300,
            BitsPerComponent=8,
            ColorSpace=Name.DeviceRGB,
        )
        if "Mask" in masked:
            made.Mask = Array(masked["Mask"])
        else:
            made.SMask = pdf.make_stream(
                bytes(300 * 300),
                Subtype=Name.Image,
                Width=300,
                Height=300,
                BitsPerComponent=8,
                ColorSpace=Name.DeviceGray,
            )
            made.SMask.Matte = Array(masked["SMask"]["Matte"])
        page.Resources = Dictionary(XObject=Dictionary(P=made))
        page.Contents = pdf.make_stream(b"q 72 0 0 72 0 0 cm /P Do Q")
        out = BytesIO()
        pdf.save(out)

    assert fit_pictures(out.getvalue(), 72, quality=88) == out.getvalue()
