"""Makes the console's copies of django-unfold's style sheet and icon font, with only what its pages use:
`.venv/bin/python -m fulfillment.local.console_assets`.

Needed after an update of django-unfold, and where a page uses a new icon or one of its classes for the first time:
`tests/fulfillment/local/test_console_assets.py` names what is missing. WOFF2 needs `brotli`, which the tests bring.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
import unfold
from fontTools import subset
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parents[2]
APPS = ("accounts", "applications", "delivery", "fulfillment", "production", "stores")
UNFOLD = Path(unfold.__file__).parent
STYLES = UNFOLD / "static" / "unfold" / "css" / "styles.css"
SCROLL_BARS = UNFOLD / "static" / "unfold" / "css" / "simplebar" / "simplebar.css"
SYMBOLS = UNFOLD / "static" / "unfold" / "fonts" / "material-symbols" / "Material-Symbols-Outlined.woff2"
TARGET = ROOT / "static" / "console" / "vendor"
STYLE_COPY, SYMBOL_COPY = TARGET / "unfold.css", TARGET / "material-symbols.woff2"
FONT_FACE = (
    '@font-face{font-family:"Material Symbols Outlined";font-style:normal;font-weight:400;font-display:block;'
    f'src:url("{SYMBOL_COPY.name}") format("woff2")}}\n'
)
# Parts of django-unfold that no page of the console renders.
UNUSED = (
    *("components/chart", "components/tracker", "crispy", "registration", "language", "command_", "login"),
    *(
        f"contrib/{name}"
        for name in ("constance", "forms", "guardian", "import_export", "inlines", "location", "simple")
    ),
)
SOURCES = (".css", ".html", ".js", ".py")
# Scripts compose these names.
COMPOSED = re.compile(r"(?:select2|simplebar|calendar|clock|datetime|timezone|errorlist|v[A-Z])")
AT_RULES_WITH_RULES = ("@media", "@supports", "@layer", "@container")
TEMPLATE_TAG = re.compile(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.DOTALL)
QUOTED_IN_TAG = re.compile(r"\"([^\"]*)\"|'([^']*)'")
CLASS_IN_SELECTOR = re.compile(r"\.((?:\\[0-9a-f]{1,6} ?|\\.|[\w-])+)", re.IGNORECASE)
ESCAPE = re.compile(r"\\([0-9a-f]{1,6}) ?|\\(.)", re.IGNORECASE)
SYMBOL = re.compile(r"material-symbols-outlined[^>]*>(.*?)</", re.DOTALL)
NAMED_SYMBOL = re.compile(r"""icon["']?\s*[=:]\s*["']([a-z0-9_]+)["']""")
SYMBOL_OF_MENU = re.compile(r'Entry\(\s*"[^"]*",\s*"[^"]*",\s*"([a-z0-9_]+)"')
# Our scripts pass them to functions, so each quoted word that is the name of an icon counts.
SCRIPTS = ROOT / "static" / "console"
QUOTED = re.compile(r'"([a-z][a-z0-9_]*)"')
WORD = re.compile(r"[a-z][a-z0-9_]*")
# Symbols that the style sheet itself draws: for an error, a day, a menu.
DRAWN_SYMBOL = re.compile(r'content:"([a-z0-9_]+)"')


def main() -> None:
    STYLE_COPY.write_text(FONT_FACE + reduced_styles(), "utf-8")
    write_symbols(symbol_names())
    shutil.copy(SYMBOLS.parent / "LICENSE", TARGET / "material-symbols-LICENSE")


def pages() -> Iterator[tuple[Path, str]]:
    """Every file that a class or an icon of the console can come from."""
    admin = Path(django.__file__).parent / "contrib" / "admin"
    for folder in (*(ROOT / name for name in (*APPS, "templates", "static")), admin, UNFOLD):
        for path in sorted(folder.rglob("*")):
            place = path.relative_to(folder).as_posix()
            if path.suffix not in SOURCES or "migrations" in place or path in (STYLES, STYLE_COPY):
                continue
            if folder == UNFOLD and any(part in place for part in UNUSED):
                continue
            yield path, path.read_text("utf-8")


def symbol_names() -> set[str]:
    """Icons that templates, scripts, the menu and the reduced style sheet name."""
    found = set(DRAWN_SYMBOL.findall(STYLE_COPY.read_text("utf-8")))
    for path, text in pages():
        if path.suffix == ".css":
            continue
        for inside in SYMBOL.findall(text):
            found.update(WORD.findall(TEMPLATE_TAG.sub(" ", inside)))
        found.update(NAMED_SYMBOL.findall(text) + SYMBOL_OF_MENU.findall(text))
        if path.is_relative_to(SCRIPTS) and path.suffix == ".js" and not path.is_relative_to(TARGET):
            found.update(QUOTED.findall(text))
    return found & ligatures(TTFont(SYMBOLS))


def ligatures(font: TTFont) -> set[str]:
    """The names a font of icons draws as one glyph."""
    return {name for *_, name in _ligatures(font)}


def _ligatures(font: TTFont) -> list[tuple[Any, str, Any, str]]:
    letters = {glyph: chr(code) for code, glyph in font.getBestCmap().items() if code < 0x7F}
    found = []
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            table = getattr(table, "ExtSubTable", table)
            for first, group in getattr(table, "ligatures", {}).items():
                for one in group:
                    name = "".join(letters.get(glyph, "?") for glyph in (first, *one.Component))
                    found.append((table, first, one, name))
    return found


def write_symbols(names: set[str]) -> None:
    font = TTFont(SYMBOLS, recalcTimestamp=False)
    if missing := names - ligatures(font):
        raise SystemExit(f"django-unfold's font has no icon {', '.join(sorted(missing))}.")
    # Subsetting keeps every ligature whose letters stay, so the others go first.
    for table, first, one, name in _ligatures(font):
        if name not in names:
            table.ligatures[first].remove(one)
    options = subset.Options(layout_features=["*"], flavor="woff2", hinting=False, name_IDs=[0, 13, 14])
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(names))
    subsetter.subset(font)
    subset.save_font(font, SYMBOL_COPY, options)


def reduced_styles() -> str:
    """django-unfold's style sheet without the rules of classes that no page has."""
    known = class_names()
    text = re.sub(
        r"/\*[^!].*?\*/", "", STYLES.read_text("utf-8") + SCROLL_BARS.read_text("utf-8"), flags=re.DOTALL
    )
    return "".join(_kept(text, known)) + "\n"


def class_names() -> frozenset[str]:
    return frozenset(word for path, text in pages() if path.suffix != ".css" for word in words_of_page(text))


def words_of_page(text: str) -> Iterator[str]:
    """Everything that can be a class: of the text itself, and of what template tags pass on in quotes."""
    yield from re.split(r"""[\s"'`<>=]+""", TEMPLATE_TAG.sub(" ", text))
    for tag in TEMPLATE_TAG.findall(text):
        for quoted in QUOTED_IN_TAG.findall(tag):
            yield from re.split(r"[\s,]+", "".join(quoted))


def _kept(css: str, known: frozenset[str]) -> Iterator[str]:
    for prelude, body in _rules(css):
        if body is None:
            yield prelude
        elif prelude.startswith(AT_RULES_WITH_RULES):
            if inside := "".join(_kept(body, known)):
                yield f"{prelude}{{{inside}}}"
        elif prelude.startswith("@"):
            yield f"{prelude}{{{body}}}"
        elif selectors := [one for one in _selectors(prelude) if _is_used(one, known)]:
            yield f"{','.join(selectors)}{{{body}}}"


def _is_used(selector: str, known: frozenset[str]) -> bool:
    names = [
        ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], name)
        for name in CLASS_IN_SELECTOR.findall(re.sub(r"\"[^\"]*\"", "", selector))
    ]
    return all(name in known or COMPOSED.match(name) for name in names)


def _rules(css: str) -> Iterator[tuple[str, str | None]]:
    """The rules at the top of a style sheet: what is before the braces and in them; None of a statement."""
    start = depth = opened = position = 0
    while position < len(css):
        character = css[position]
        if character in "\"'":
            position = css.index(character, position + 1)
        elif character == "\\":
            position += 1
        elif character == ";" and not depth:
            yield css[start : position + 1].strip(), None
            start = position + 1
        elif character == "{":
            opened = position if not depth else opened
            depth += 1
        elif character == "}":
            depth -= 1
            if not depth:
                yield css[start:opened].strip(), css[opened + 1 : position]
                start = position + 1
        position += 1


def _selectors(prelude: str) -> Iterator[str]:
    """Split at commas, but for those in brackets and in escaped names."""
    start = depth = position = 0
    while position < len(prelude):
        character = prelude[position]
        if character == "\\":
            position += 1
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == "," and not depth:
            yield prelude[start:position]
            start = position + 1
        position += 1
    yield prelude[start:]


if __name__ == "__main__":
    main()
