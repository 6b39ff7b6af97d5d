"""Checks what is visible in a text, and suggests the closest name in a list for a misspelt one."""

import unicodedata
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice

# Only of so many names, and none longer: comparing takes time.
COMPARED, MAX_LENGTH = 5, 40
# Invisible: fillers of Hangul, Khmer and Mongolian, the Braille blank, variation selectors.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(code) for span in ((0xFE00, 0xFE10), (0xE0100, 0xE01F0)) for code in range(*span)
}


def near_name(name: str, allowed: Collection[str]) -> str | None:
    """The same letters in another case or with other separators, else a small misspelling."""
    if len(name) > MAX_LENGTH:
        return None
    folded = {_fold_name(allowed_name): allowed_name for allowed_name in allowed}
    if exact := folded.get(_fold_name(name)):
        return exact
    close = get_close_matches(_fold_name(name), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None


def did_you_mean(names: Iterable[str], allowed: Collection[str]) -> dict[str, str]:
    """A sentence behind another one, or nothing, for each of the first unknown names: callers send thousands."""
    near_names = {name: near_name(name, allowed) for name in islice(names, COMPARED)}
    return {name: f" Did you mean {near}?" if near else "" for name, near in near_names.items()}


def _fold_name(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def is_blank(text: str) -> bool:
    """Whether it has only spaces, line ends, control and format characters, and fillers."""
    if text.isascii() and text.isprintable():
        return not text.strip()
    return all(
        letter.isspace() or letter in _INVISIBLE or unicodedata.category(letter) in {"Cc", "Cf"}
        for letter in set(text)
    )
