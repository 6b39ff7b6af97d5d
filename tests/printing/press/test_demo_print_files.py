"""Every product of the demo, and generated orders of them, as files for the press."""

import io
import random
import re

import pytest
from PIL import Image

from printing.imposition import spot_plates
from printing.preflight import Limits, PreflightInput, preflight
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import FontSet, Press, ValuesInvalid, render_pdf_page, render_print
from printing.typesetting.template import CMYK, Box
from tests.support.cases import cases
from tests.support.catalog.demo_products import facts_of_demo
from tests.support.printing.pdfx_rules import faults, kinds_of_color
from tests.support.printing.press_samples import NAMES, OTHER_SCRIPTS, WORDS, demo_print
from tests.support.printing.programs import PLATES, inside, plates, run

COATED = Press(rules=PresetRules(policy=ColorPolicy.CMYK))


@pytest.mark.parametrize("name", NAMES)
def test_demo_products_are_press_ready_in_inks_alone(name):
    template, values, images = demo_print(name)

    printed = render_print(template, values, images, press=COATED).pdf

    assert faults(printed) == []
    assert kinds_of_color(printed) <= {"DeviceCMYK", "DeviceGray", "Separation", "Pattern"}


def printed_orders(wanted, seed):
    """Orders of all products with their print file and findings; texts that do not fit are refused and left out."""
    chance, made = random.Random(seed), 0
    while made < wanted:
        name, words = NAMES[made % len(NAMES)], chance.choice([WORDS, WORDS, [*WORDS, *OTHER_SCRIPTS]])
        template, values, images = demo_print(name, chance, words)
        rules = PresetRules(policy=chance.choice(list(ColorPolicy)), slug=chance.random() < 0.5)
        try:
            printed = render_print(template, values, images, press=Press(rules=rules))
        except ValuesInvalid:
            continue
        made += 1
        job = PreflightInput(template, values, images, FontSet.shipped(), printed.texts, facts_of_demo(name))
        # Letters of other scripts come from another font, and pictures are converted: both are worth a warning.
        true = {"font_substituted"} if words is not WORDS else set()
        true |= {"picture_rgb"} if rules.is_cmyk else set()
        # Designs let long light texts shrink as far as dark ones.
        true |= {"text_small_reversed"} if any(text.size < 6 for text in printed.texts) else set()
        yield printed.pdf, preflight(job, Limits.of(rules)), true


def assert_ready(content, findings, true):
    assert faults(content) == []
    assert [finding.message for finding in findings if finding.code not in true] == []


def test_order_of_each_product_is_press_ready_without_a_false_alarm():
    for order in printed_orders(cases(len(NAMES), 100), 19):
        assert_ready(*order)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_demo_products_keep_to_the_total_ink_and_other_programs_read_them(name, tmp_path):
    template, values, images = demo_print(name)
    printed = render_print(template, values, images, press=COATED).pdf
    (tmp_path / "one.pdf").write_bytes(printed)
    dpi = 150 if max(page.height for page in template.pages) < 500 else 30

    for number in range(1, len(template.pages) + 1):
        found = plates(tmp_path, printed, page=number, dpi=dpi)
        total = sum(inside(found[plate], 8.4, dpi) for plate in PLATES)
        assert float(total.max()) * 100 <= 302

    assert re.search("PDF/X-4", run("pdfinfo", str(tmp_path / "one.pdf")))
    assert "No syntax or stream encoding errors" in run("qpdf", "--check", str(tmp_path / "one.pdf"))
    assert "warning" not in run("mutool", "info", str(tmp_path / "one.pdf"))


def test_caption_of_the_standard_card_is_centered_below_its_arch():
    template, values, images = demo_print("business-card-standard")
    content = render_print(template, values, images, press=COATED).pdf
    sheet = Image.open(io.BytesIO(render_pdf_page(content, 0, pixels=2100, trimmed=True))).convert("L")
    millimeter = sheet.width / 88.9

    def middle(top: float, bottom: float) -> float:
        part = sheet.crop([round(edge * millimeter) for edge in (4, top, 27, bottom)])
        left, _, right, _ = part.point(lambda tone: 255 * (tone > 200)).getbbox()
        return 4 + (left + right) / 2 / millimeter

    lines = (middle(25, 28.2), middle(28.6, 33))
    assert abs(sum(lines) / 2 - middle(8, 24)) < 0.1


def needs_register(box: Box) -> bool:
    """Whether QR codes, or small dark texts without a hue, would be on several plates."""
    if isinstance(box.color, CMYK):
        return bool(box.color.cyan or box.color.magenta or box.color.yellow)
    if box.kind == "QRCode":
        return True
    shades = [int(box.color.code[at : at + 2], 16) for at in (1, 3, 5)]
    return box.kind == "Text" and box.size < 12 and max(shades) < 0x66 and max(shades) - min(shades) < 0x20


@pytest.mark.parametrize("name", NAMES)
def test_small_dark_texts_and_codes_of_demo_products_are_on_the_black_plate_alone(name):
    template, _, _ = demo_print(name)

    boxes = [box for page in template.pages for box in page.boxes]

    assert [box.field or box.text for box in boxes if needs_register(box)] == []


@pytest.mark.slow
def test_inks_of_the_round_sticker_go_on_below_its_die_line(tmp_path):
    template, values, images = demo_print("sticker-round-3in")
    found = plates(tmp_path, render_print(template, values, images, press=COATED).pdf, dpi=300)

    line = found["CutContour"] > 0.3
    assert line.any()
    assert float(sum(found[plate] for plate in PLATES)[line].min()) > 1


@pytest.mark.parametrize("press", [COATED, Press(rules=PresetRules(policy=ColorPolicy.MANAGED))])
def test_round_sticker_has_its_die_line_on_a_plate_of_its_own(press):
    template, values, images = demo_print("sticker-round-3in")

    assert spot_plates(render_print(template, values, images, press=press).pdf) == ("CutContour",)
