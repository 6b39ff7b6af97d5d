"""Text as outlines, so that the slug line needs no font."""

from functools import cache
from threading import RLock
from typing import Any

from fontTools.pens.basePen import BasePen
from fontTools.ttLib import TTFont

from printing.typesetting.fonts import SHIPPED_FONTS

FONT = SHIPPED_FONTS / "inter" / "Inter[opsz,wght].ttf"
# fontTools reads tables and glyphs when they are first used, and not for two threads at once.
_one_at_a_time = RLock()


class _PathPen(BasePen):
    """Writes PDF path operators; converts quadratic curves to cubic ones."""

    def __init__(self, glyphs: Any, scale: float, x: float, y: float) -> None:
        super().__init__(glyphs)
        self._scale, self._x, self._y = scale, x, y
        self.operators: list[str] = []

    def _points(self, *points: tuple[float, float]) -> str:
        return " ".join(f"{self._x + x * self._scale:.3f} {self._y + y * self._scale:.3f}" for x, y in points)

    def _moveTo(self, pt: tuple[float, float]) -> None:  # noqa: N802
        self.operators.append(f"{self._points(pt)} m")

    def _lineTo(self, pt: tuple[float, float]) -> None:  # noqa: N802
        self.operators.append(f"{self._points(pt)} l")

    def _curveToOne(  # noqa: N802
        self, pt1: tuple[float, float], pt2: tuple[float, float], pt3: tuple[float, float]
    ) -> None:
        self.operators.append(f"{self._points(pt1, pt2, pt3)} c")

    def _closePath(self) -> None:  # noqa: N802
        self.operators.append("h")


@cache
def _font() -> tuple[Any, dict[int, str], Any, int]:
    font = TTFont(FONT, lazy=True)
    return font.getGlyphSet(), font.getBestCmap(), font["hmtx"], font["head"].unitsPerEm


def text_width(text: str, size: float) -> float:
    with _one_at_a_time:
        _, names, advances, units = _font()
        return sum(advances[names.get(ord(letter), ".notdef")][0] for letter in text) * size / units


def text_path(text: str, size: float, x: float, y: float) -> str:
    """Filled outlines of a line of text that begins at x, y; all in points."""
    with _one_at_a_time:
        glyphs, names, advances, units = _font()
        operators: list[str] = []
        for letter in text:
            name = names.get(ord(letter), ".notdef")
            pen = _PathPen(glyphs, size / units, x, y)
            glyphs[name].draw(pen)
            operators += pen.operators
            x += advances[name][0] * size / units
    return "\n".join([*operators, "f"]) if operators else ""
