"""Every product of the demo, and generated orders of them, as files for the press."""

import random
import re

import pytest

from stores.press.rules import ColourPolicy, PresetRules
from stores.typesetting import Press, ValuesInvalid, render_print
from tests.support.pdfx_rules import faults, kinds_of_colour
from tests.support.press_samples import NAMES, demo_print
from tests.support.printing_programs import PLATES, inside, plates, run

COATED = Press(rules=PresetRules(policy=ColourPolicy.CMYK))


@pytest.mark.parametrize("name", NAMES)
def test_demo_products_are_press_ready_in_inks_alone(name):
    template, values, images = demo_print(name)

    printed = render_print(template, values, images, press=COATED).pdf

    assert faults(printed) == []
    assert kinds_of_colour(printed) <= {"DeviceCMYK", "DeviceGray", "Separation", "Pattern"}


@pytest.mark.slow
def test_two_hundred_generated_orders_are_press_ready():
    chance, made = random.Random(19), 0
    while made < 200:
        template, values, images = demo_print(chance.choice(NAMES), chance)
        press = Press(rules=PresetRules(policy=chance.choice(list(ColourPolicy)), slug=chance.random() < 0.5))
        try:
            printed = render_print(template, values, images, press=press).pdf
        except ValuesInvalid:
            continue
        made += 1
        assert faults(printed) == []


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
