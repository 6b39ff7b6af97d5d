"""How long the lines of a PDF are: the widths of letters as its fonts say them."""

from collections.abc import Iterator
from typing import Any

import pikepdf

# Of a font that says none, in thousandths of its size.
USUAL_WIDTH = 500.0


class Letters:
    """The widths of one font; a letter has one byte, or two in a composite font."""

    def __init__(self, font: Any) -> None:
        self._is_composite = "/DescendantFonts" in font
        # The glyphs of a Type 3 font have units of their own.
        matrix = font.get("/FontMatrix")
        self._unit = float(matrix[0]) if matrix is not None else 0.001
        if self._is_composite:
            inner = font.DescendantFonts[0]
            self._default = float(inner.get("/DW", 1000))
            self._widths = dict(_composite_widths(inner.get("/W", pikepdf.Array())))
        else:
            descriptor = font.get("/FontDescriptor", pikepdf.Dictionary())
            self._default = float(descriptor.get("/MissingWidth", USUAL_WIDTH))
            first = int(font.get("/FirstChar", 0))
            self._widths = {
                first + at: float(one) for at, one in enumerate(font.get("/Widths", pikepdf.Array()))
            }

    def advance(self, text: bytes, size: float, spacing: float, word_spacing: float) -> float:
        """How far the text moves on, in units of text space before it is stretched."""
        step = 2 if self._is_composite else 1
        codes = [int.from_bytes(text[at : at + step]) for at in range(0, len(text), step)]
        widths = sum(self._widths.get(code, self._default) for code in codes)
        spaces = codes.count(32) if step == 1 else 0
        return widths * self._unit * size + len(codes) * spacing + spaces * word_spacing


def _composite_widths(entries: Any) -> Iterator[tuple[int, float]]:
    at = 0
    while at < len(entries) - 1:
        first = int(entries[at])
        if isinstance(entries[at + 1], pikepdf.Array):
            yield from ((first + number, float(one)) for number, one in enumerate(entries[at + 1]))
            at += 2
        else:
            last = min(int(entries[at + 1]), first + 0xFFFF)
            yield from ((code, float(entries[at + 2])) for code in range(first, last + 1))
            at += 3
