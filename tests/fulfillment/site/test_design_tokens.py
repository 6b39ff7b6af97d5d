"""static/brand/tokens.css: every color can be read on its grounds, and every stylesheet uses what is defined."""

import re
from itertools import product

import pytest
from django.conf import settings

STATIC = settings.BASE_DIR / "static"
TOKENS = (STATIC / "brand" / "tokens.css").read_text()
PAIR = re.compile(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);")
COLORS = {name: (light, dark) for name, light, dark in PAIR.findall(TOKENS)}
GROUNDS = ["paper", "sunken", "raised"]
TEXT = [
    *product(["ink", "soft", "accent", "accent-strong", "danger", "warning", "info"], GROUNDS),
    *(("ink", f"{name}-tint") for name in ("accent", "danger", "warning", "info")),
    *((name, f"{name}-tint") for name in ("danger", "warning", "info")),
    ("accent-strong", "accent-tint"),
    ("on-accent", "accent"),
    ("code-ink", "code"),
    ("soft", "code"),
    *product(["code-name", "code-text", "code-number", "code-word"], ["code", "paper"]),
]
DRAWN = [
    *product([name for name in COLORS if name.startswith("status-")], ["paper", "raised"]),
    *product(["line-strong", "accent"], GROUNDS),
]


def luminance(color: str) -> float:
    """Of WCAG 2.2, "relative luminance"."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(color: str, ground: str) -> float:
    low, high = sorted((luminance(color), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colors_can_be_read_on_their_grounds(scheme):
    contrasts = {
        (color, ground): round(contrast(COLORS[color][scheme], COLORS[ground][scheme]), 2)
        for color, ground in [*TEXT, *DRAWN]
    }

    assert {pair: ratio for pair, ratio in contrasts.items() if ratio < (4.5 if pair in TEXT else 3)} == {}


@pytest.mark.parametrize(
    "sheet", ["portal.css", "reference/reference.css", "console/console.css", "console/theme.css"]
)
def test_stylesheets_name_only_tokens_that_are_defined(sheet):
    text = (STATIC / sheet).read_text()
    defined = set(re.findall(r"(--[\w-]+):", TOKENS + text))

    assert set(re.findall(r"var\((--[\w-]+)\)", text)) - defined == set()


def test_each_named_file_of_the_typeface_is_there():
    matches = re.findall(r'url\("([^"]+)"\)', TOKENS)

    assert [name for name in matches if not (STATIC / "brand" / name).is_file()] == []
    assert (STATIC / "brand" / "inter" / "OFL.txt").is_file()
