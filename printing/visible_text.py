"""Checks what is visible in a text."""

import unicodedata

# Invisible: fillers of Hangul, Khmer and Mongolian, the Braille blank, variation selectors.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    chr(code) for span in ((0xFE00, 0xFE10), (0xE0100, 0xE01F0)) for code in range(*span)
}


def is_blank(text: str) -> bool:
    """Whether it has only spaces, line ends, control and format characters, and fillers."""
    if text.isascii() and text.isprintable():
        return not text.strip()
    return all(letter.isspace() or letter in _INVISIBLE or _has_no_shape(letter) for letter in set(text))


def _has_no_shape(letter: str) -> bool:
    return unicodedata.category(letter) in {"Cc", "Cf"}
