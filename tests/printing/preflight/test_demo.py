"""The demo catalogue as a customer uses it: preflight has nothing to say of it, and takes little time."""

import pytest

from printing.preflight import Limits, preflight
from printing.press.rules import ColorPolicy, PresetRules
from tests.support.catalog.demo_products import demo_job
from tests.support.costs import calls
from tests.support.printing.made_templates import DEMO

NAMES = sorted(path.name for path in DEMO.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_demo_product_has_no_findings(name):
    job = demo_job(name)

    assert [finding.message for finding in preflight(job)] == []


def test_preset_that_converts_says_only_that_photographs_are_converted():
    converted = Limits.of(PresetRules(policy=ColorPolicy.CMYK))

    found = [
        finding
        for name in ("photo-postcard-6x9", "business-card-standard")
        for finding in preflight(demo_job(name), converted)
    ]

    assert {finding.code for finding in found} <= {"picture_rgb"}


def test_preflight_of_a_card_costs_few_calls():
    job = demo_job("business-card-standard")

    assert calls(lambda: preflight(job)) < 6000
