"""Reduces django-unfold's icon font to the icons that the console names.

Run `.venv/bin/python -m tests.tools.console_icons` after an update of django-unfold and for a new icon;
`tests/fulfillment/local/test_console_icons.py` names missing icons. WOFF2 needs `brotli`, which the tests install.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import unfold
from django.contrib import admin
from fontTools import subset
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[2]
UNFOLD = Path(unfold.__file__).parent
STYLES = UNFOLD / "static" / "unfold" / "css" / "styles.css"
FONT = UNFOLD / "static" / "unfold" / "fonts" / "material-symbols" / "Material-Symbols-Outlined.woff2"
TARGET = ROOT / "static" / "console" / "vendor"
FONT_COPY = TARGET / "material-symbols.woff2"
SCRIPTS = ROOT / "static" / "console"
SOURCES = (*(path.parent for path in ROOT.glob("*/apps.py")), ROOT / "templates", ROOT / "static", UNFOLD)
# Icons stand in elements of a class, in arguments named `icon`, in entries of the menu and in rules of the style sheet.
IN_ELEMENT = re.compile(r"material-symbols-outlined[^>]*>(.*?)</", re.DOTALL)
IN_ARGUMENT = re.compile(r"""icon["']?\s*[=:]\s*["']([a-z0-9_]+)["']""")
IN_MENU = re.compile(r'Entry\((?:\s*_\("[^"]*"\),){2}\s*"([a-z0-9_]+)"')
IN_STYLES = re.compile(r'content:"([a-z0-9_]+)"')
# Our scripts pass names of icons to functions.
IN_SCRIPT = re.compile(r'"([a-z][a-z0-9_]*)"')
TEMPLATE_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
WORD = re.compile(r"[a-z][a-z0-9_]*")


def main() -> None:
    write_font(icon_names())
    shutil.copy(FONT.parent / "LICENSE", TARGET / "material-symbols-LICENSE")


def icon_names() -> set[str]:
    """Every word that may name an icon and is the name of one."""
    names = set(IN_STYLES.findall(STYLES.read_text("utf-8")))
    for path, text in _sources():
        for inside in IN_ELEMENT.findall(text):
            names.update(WORD.findall(TEMPLATE_TAG.sub(" ", inside)))
        names.update(IN_ARGUMENT.findall(text) + IN_MENU.findall(text))
        if path.is_relative_to(SCRIPTS) and path.suffix == ".js" and not path.is_relative_to(TARGET):
            names.update(IN_SCRIPT.findall(text))
    return names & ligatures(TTFont(FONT))


def _sources() -> Iterator[tuple[Path, str]]:
    for folder in (*SOURCES, Path(admin.__file__).parent):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".html", ".js", ".py") and "migrations" not in path.parts:
                yield path, path.read_text("utf-8")


def ligatures(font: TTFont) -> set[str]:
    """The names that the font draws as one glyph."""
    return {name for *_, name in _ligatures(font)}


def _ligatures(font: TTFont) -> list[tuple[Any, str, Any, str]]:
    letters = {glyph: chr(code) for code, glyph in font.getBestCmap().items() if code < 0x7F}
    ligatures = []
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            table = getattr(table, "ExtSubTable", table)
            for first, group in getattr(table, "ligatures", {}).items():
                for ligature in group:
                    name = "".join(letters.get(glyph, "?") for glyph in (first, *ligature.Component))
                    ligatures.append((table, first, ligature, name))
    return ligatures


def write_font(names: set[str]) -> None:
    font = TTFont(FONT, recalcTimestamp=False)
    # Subsetting keeps every ligature whose letters stay, so the others go first.
    for table, first, ligature, name in _ligatures(font):
        if name not in names:
            table.ligatures[first].remove(ligature)
    options = subset.Options(layout_features=["*"], flavor="woff2", hinting=False, name_IDs=[0, 13, 14])
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(names))
    subsetter.subset(font)
    subset.save_font(font, FONT_COPY, options)


if __name__ == "__main__":
    main()
