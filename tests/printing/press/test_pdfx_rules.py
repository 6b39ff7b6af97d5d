"""Print files against the table of rules of PDF/X-4, which is proved by broken files and by another writer's."""

import re
import subprocess
import sys

import pytest

from printing.press.profiles import SHIPPED
from printing.press.rules import ColorPolicy, PresetRules
from printing.typesetting import Press, render_print
from tests.support.printing.made_templates import words_template
from tests.support.printing.pdfx_rules import RULES, broken, faults

PAGE = """
<style>@color-profile device-cmyk {{ src: url({profile}); components: c, m, y, k }}
@page {{ size: 90mm 50mm; bleed: 3mm }} html {{ color: device-cmyk(0 0 0 1) }}</style>
<title>Other</title><p style="opacity: 0.5">Written by another program</p>
"""


@pytest.fixture(scope="module")
def own_file():
    press = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
    return render_print(words_template(Color="#000000"), {"Words": "Hello"}, press=press).pdf


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.subject)
def test_file_that_breaks_a_rule_is_found_by_it(own_file, rule):
    assert rule.subject in faults(broken(own_file, rule))


@pytest.mark.parametrize("policy", ColorPolicy)
def test_print_files_keep_every_rule(policy):
    press = Press(rules=PresetRules(policy=policy, slug=True))

    printed = render_print(words_template(Color="#0b2545"), {"Words": "Hello"}, press=press).pdf

    assert faults(printed) == []


def test_files_are_named_by_their_content(own_file):
    press = Press(rules=PresetRules(policy=ColorPolicy.CMYK))
    other, same = (
        render_print(words_template(Color="#000000"), {"Words": words}, press=press).pdf
        for words in ("Other", "Hello")
    )

    assert same == own_file
    assert re.findall(rb"/ID \[.*?\]|uuid:[0-9a-f-]+", other) != re.findall(
        rb"/ID \[.*?\]|uuid:[0-9a-f-]+", own_file
    )
    assert b"uuid:00000000" not in own_file


def test_file_of_another_writer_keeps_every_rule():
    # In a process of its own: once imported, WeasyPrint makes Pillow accept cut pictures.
    command = [sys.executable, "-m", "weasyprint", "--quiet", "--pdf-variant", "pdf/x-4", "-", "-"]
    page = PAGE.format(profile=SHIPPED.as_uri()).encode()
    written = subprocess.run(command, input=page, capture_output=True, check=True).stdout

    assert faults(written) == []
