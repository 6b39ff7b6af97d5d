"""Total ink of what blends, fades or overprints, against the plates that Ghostscript draws of the print file."""

from itertools import product

import numpy as np
import pytest
from pikepdf import Dictionary, Name

from printing.preflight import Limits, PreflightInput, colors, preflight
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import FontSet, Press, RenderingTimedOut, parse_template, render_print
from tests.support.printing.made_templates import card
from tests.support.printing.plate_samples import artwork, samples
from tests.support.printing.preflight_cards import inspected, pdf, svg
from tests.support.printing.programs import PLATES, inside, plates

SAMPLES = samples()
# Every third of those that blend, fade or overprint.
MIXED = [name for name in SAMPLES if name.startswith(("blend", "overprint", "alpha", "mask", "group"))][::3]
DPI = 100
# Of a color that is painted twice: 200% each time, and 400% where both plates add up.
DARK = b"1 1 0 0 k 0 0 140 170 re f /GS gs 0 0 1 1 k 60 0 140 100 re f"
HEAVY = b"/GS gs 1 1 1 .8 k 20 20 200 100 re f"


def ink_found(findings):
    return [(finding.found, finding.severity) for finding in findings if finding.code == "total_ink_high"]


def ink_of_plates(folder, template, rules):
    """In percent, but for specks of a quarter of a square millimetre."""
    printed = render_print(template, {}, press=Press(rules=rules)).pdf
    found = plates(folder, printed, dpi=DPI)
    total = inside(sum(found[plate] for plate in PLATES), 8 + 3, DPI)
    speck = round(0.25 * (DPI / 25.4) ** 2)
    return float(np.sort(total.ravel())[-speck]) * 100


@pytest.mark.slow
def test_ink_is_that_of_the_plates_that_another_program_draws(tmp_path):
    wrong = {}

    # Both in one test: what is read of a file is kept, and serves both.
    for name, keeps_overprint in product(MIXED, (False, True)):
        # The limit of what is converted is high, and that of preflight low: each file has a finding to compare.
        rules = PresetRules(policy=ColorPolicy.CMYK, highest_ink=400, keeps_overprint=keeps_overprint)
        limits = Limits.of(PresetRules(highest_ink=100, keeps_overprint=keeps_overprint))
        template = parse_template(card(Background="b") | {"Artwork": {"b": artwork(SAMPLES[name])}}, [])
        job = PreflightInput(template, {}, {}, FontSet.shipped(), press=Press(rules=rules))
        said = [amount for amount, _ in ink_found(preflight(job, limits))]
        expected = ink_of_plates(tmp_path, template, rules)
        if len(said) != (expected > 101) or any(abs(float(amount[:-1]) - expected) > 4 for amount in said):
            wrong[name, keeps_overprint] = said, expected

    assert wrong == {}


@pytest.mark.parametrize(
    ("content", "state", "preset", "found"),
    [
        (DARK, {"BM": Name.Multiply}, {}, ["400%"]),
        (DARK, {"BM": Name.Normal}, {}, []),
        (DARK, {"op": True, "OPM": 1}, {"keeps_overprint": True}, ["400%"]),
        (DARK, {"op": True, "OPM": 1}, {}, []),
        (DARK, {"op": True, "OPM": 0}, {"keeps_overprint": True}, []),
        (HEAVY, {}, {}, ["380%"]),
        (HEAVY, {"ca": 0.3}, {}, []),
        (HEAVY, {"ca": 0.9}, {}, ["342%"]),
    ],
    ids=[
        "multiplied",
        "normal",
        "overprint kept",
        "overprint removed",
        "all plates",
        "heavy",
        "faint",
        "dense",
    ],
)
def test_parts_that_add_up_are_heavy_and_faint_ones_are_not(content, state, preset, found):
    made = pdf(content, ExtGState=Dictionary(GS=Dictionary(**state)))

    findings = inspected(artwork=made, is_rendered=False, preset=PresetRules(**preset))

    said = [float(amount[:-1]) for amount, _ in ink_found(findings)]
    assert said == pytest.approx([float(amount[:-1]) for amount in found], abs=2)


def test_ink_that_is_not_read_in_time_is_a_finding(monkeypatch):
    def draw(*_, **__):
        raise RenderingTimedOut

    monkeypatch.setattr(colors, "render_inks", draw)
    made = pdf(DARK + b" 9 9 9 9 re f", ExtGState=Dictionary(GS=Dictionary(BM=Name.Multiply)))

    for severities, expected in (({}, ["artwork_unexamined"]), ({"total_ink_high": "Off"}, [])):
        findings = inspected(artwork=made, is_rendered=False, preset=PresetRules(severities=severities))
        assert [finding.code for finding in findings if finding.code == "artwork_unexamined"] == expected


def test_place_of_the_ink_is_where_both_parts_are():
    made = pdf(DARK, ExtGState=Dictionary(GS=Dictionary(BM=Name.Multiply)))

    [found] = [
        finding for finding in inspected(artwork=made, is_rendered=False) if finding.code == "total_ink_high"
    ]

    # 60 to 140 points across and 0 to 100 up, less the bleed of 3 mm.
    area = found.area
    sides = (area.x, area.y, area.x + area.width, area.y + area.height)
    assert sides == pytest.approx((18.2, 18.5, 46.4, 50.8), abs=0.5)


def test_svg_that_multiplies_is_read_from_its_plates():
    dark = '<rect width="60" height="40" fill="#004080"/>'
    over = '<rect width="60" height="40" fill="#603000" style="mix-blend-mode:{}"/>'

    multiplied, plain = (
        ink_found(inspected(artwork=svg(dark + over.format(mode)), is_rendered=False))
        for mode in ("multiply", "normal")
    )

    assert plain == []
    assert float(multiplied[0][0][:-1]) > 340
