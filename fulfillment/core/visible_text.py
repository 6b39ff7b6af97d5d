"""Checks what is visible in a text, and finds hidden characters."""

import re
import unicodedata

# Control characters, and marks that change the reading direction.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LINE_BREAKS = re.compile("[\t\n\r\u2028\u2029]")

# Invisible: fillers of Hangul, Khmer and Mongolian, the Braille blank, variation selectors.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(code) for span in ((0xFE00, 0xFE10), (0xE0100, 0xE01F0)) for code in range(*span)
}


def is_blank(text: str) -> bool:
    """Whether it has only spaces, line ends, control and format characters, and fillers."""
    if text.isascii() and text.isprintable():
        return not text.strip()
    return all(letter.isspace() or letter in _INVISIBLE or _has_no_shape(letter) for letter in set(text))


def has_control_character(text: str, *, multiline: bool = False) -> bool:
    """Line breaks and tabs are control characters, unless it may have several lines."""
    return bool(_CONTROLS.search(text) or (not multiline and _LINE_BREAKS.search(text)))


def _has_no_shape(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cc", "Cf"}
