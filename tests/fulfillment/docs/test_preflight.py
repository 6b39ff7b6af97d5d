"""The table of rules in docs/preflight.md is that of the code."""

from django.conf import settings

from printing.preflight import RULES
from printing.press.rules import ColorPolicy

PAGE = settings.BASE_DIR / "docs" / "preflight.md"


def row(rule):
    severities = [str(rule.severities[policy] or "–") for policy in (ColorPolicy.MANAGED, ColorPolicy.CMYK)]
    if rule.of_pdf:
        severities = [f"{severity}; {rule.of_pdf} of a PDF" for severity in severities]
    return f"| `{rule.code}` | {severities[0]} | {severities[1]} | {rule.message} | {rule.remedy} |"


def test_page_lists_every_rule_as_it_is():
    written = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]

    assert written == [row(rule) for rule in RULES]
