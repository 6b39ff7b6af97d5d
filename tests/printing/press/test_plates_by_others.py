"""Press proofs against the plates that two other programs draw of the print file: Ghostscript and poppler."""

import io
from functools import cache

import numpy as np
import pytest
from PIL import Image, ImageCms

from printing.press.colors import separation_of
from printing.press.profiles import SHIPPED
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, parse_template, render_print, render_proof
from tests.support.cases import IS_EVERY_CASE
from tests.support.printing.color_difference import differences
from tests.support.printing.made_templates import card
from tests.support.printing.plate_samples import artwork, samples
from tests.support.printing.programs import PLATES, plates, run

SAMPLES = samples()
COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK, highest_ink=400))
SHEET_MM, DPI = 8 + 3, 288
# Half the resolution of a proof: edges of shapes are no colors.
SHOWN = (252, 144)
# Spot colors of the samples as their plates show them.
SPOTS = {"Gold": (0, 0.3, 0.8, 0.2), "Ochre": (0.3, 0.5, 0.9, 0), "Sand": (0.078, 0.353, 0.784, 0.157)}
# Ghostscript draws a plate, and not what shows it; poppler dodges and burns paper in another way than the others.
UNLIKE = {
    "by_ghostscript": {"spot in RGB", "spot in Lab", "DeviceN"},
    "by_poppler": {"blend ColorDodge", "blend ColorBurn"},
}
STEP = 1 if IS_EVERY_CASE else 7


def trimmed(picture):
    """The trim of a picture of the sheet."""
    inset = SHEET_MM / 25.4 * DPI
    box = (inset, inset, picture.width - inset, picture.height - inset)
    return picture.resize(SHOWN, Image.Resampling.BOX, box)


def by_ghostscript(folder, printed):
    found = plates(folder, printed, dpi=DPI)
    inks = [found[name] for name in PLATES]
    for name, plate in found.items():
        if name in SPOTS:
            inks = [np.minimum(1, ink + plate * share) for ink, share in zip(inks, SPOTS[name], strict=True)]
    bands = [Image.fromarray(np.round(ink * 255).astype(np.uint8)) for ink in inks]
    return trimmed(Image.merge("CMYK", bands))


def by_poppler(folder, printed):
    (folder / "one.pdf").write_bytes(printed)
    options = ("-jpegcmyk", "-jpegopt", "quality=100", "-overprint", "-r", str(DPI), "-singlefile")
    run("pdftoppm", *options, f"{folder}/one.pdf", f"{folder}/one")
    with Image.open(folder / "one.jpg") as made:
        return trimmed(made.convert("CMYK"))


def lab(picture):
    profiles = ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB")
    seen = ImageCms.profileToProfile(picture, *profiles, outputMode="LAB")
    values = np.asarray(seen).astype(float)
    return np.dstack([values[..., 0] / 2.55, *(((values[..., at] + 128) % 256) - 128 for at in (1, 2))])


@cache
def rendered(name):
    """Print file and press proof, of which both judges are asked."""
    template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(SAMPLES[name])}}, [])
    printed = render_print(template, {}, press=COATED).pdf
    with Image.open(io.BytesIO(render_proof(template, {}, mark=None, press=COATED).pages[0])) as shown:
        return printed, lab(shown.convert("RGB").resize(SHOWN, Image.Resampling.BOX))


def compared(folder, name, judge):
    printed, proof = rendered(name)
    pressed = separation_of(SHIPPED.read_bytes(), 400).picture_on_screen(judge(folder, printed))
    return differences(proof, lab(pressed))


@pytest.mark.slow
@pytest.mark.parametrize("judge", [by_ghostscript, by_poppler])
def test_proof_shows_the_plates_that_others_draw(tmp_path, judge):
    names = [name for name in list(SAMPLES)[::STEP] if name not in UNLIKE[judge.__name__]]

    found = {name: compared(tmp_path, name, judge) for name in names}

    wrong = {
        name: (round(float(np.median(difference)), 2), round(float(np.percentile(difference, 95)), 2))
        for name, difference in found.items()
        if np.median(difference) > 1 or np.percentile(difference, 95) > 3
    }
    assert wrong == {}
