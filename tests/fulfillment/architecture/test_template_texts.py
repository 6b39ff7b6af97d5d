"""Texts of templates are translated, but for code, names and the API reference, which is in English."""

import re
from pathlib import Path

import pytest
from django.conf import settings

TEMPLATES = Path(settings.BASE_DIR) / "templates"
IN_ENGLISH = ("reference", "portal/code", "admin/components.html")
NAMES = {"Store Fulfillment", "Store Fulfillment · Store Fulfillment"}
LEFT_OUT = re.compile(
    r"\{% comment.*?endcomment %\}|\{#.*?#\}|\{% blocktranslate.*?endblocktranslate %\}"
    r"|\{% block (?:bodyclass|coltype|page_class) %\}.*?\{% endblock %\}|\{%.*?%\}|\{\{.*?\}\}|<!--.*?-->"
    r"|\bdata-[\w-]+=\"[^\"]*\"|<(script|style|code|pre)\b.*?</\1>",
    re.DOTALL,
)
# Of several words, or with a capital: symbols of the icon font are single words in small letters.
TEXT = re.compile(r"[A-Z][a-z]{2,}|[a-z]{3,}\W+[a-z]{3,}")
SHOWN = re.compile(r'\b(?:title|aria-label|placeholder|alt)="([^"]*)"')


def untranslated(template: str) -> list[str]:
    plain = LEFT_OUT.sub("", template)
    texts = [*re.sub(r"<(?:\"[^\"]*\"|[^>\"])*>", "\n", plain).splitlines(), *SHOWN.findall(plain)]
    return [text.strip() for text in texts if TEXT.search(text) and text.strip() not in NAMES]


@pytest.mark.parametrize(
    "template",
    [
        "<p>Orders</p>",
        "<title>{{ day }}: {{ calls }} calls, {{ refused }} refused</title>",
        '<a title="Open it" href="/">{% translate "Open" %}</a>',
    ],
)
def test_text_that_is_not_translated_is_found(template):
    assert untranslated(template)


def test_texts_of_templates_are_translated():
    found = {
        name: texts
        for path in sorted(TEMPLATES.rglob("*.html"))
        if not (name := path.relative_to(TEMPLATES).as_posix()).startswith(IN_ENGLISH)
        and (texts := untranslated(path.read_text("utf-8")))
    }

    assert found == {}
