"""The parts of artwork that preflight checks, and the facts of a file."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from printing.area import Area
from printing.press.artwork import ArtworkPage

# The limits for one kind of parts of an artwork; more add nothing.
PARTS = 400
TEXTS = 2000
# Steps of drawing that are read of a page.
OPERATORS = 60_000


class Part(StrEnum):
    LINE = "line"
    TEXT = "text"
    PICTURE = "picture"
    FONT = "font"
    INK = "ink"
    OVERPRINT = "overprint"
    WHITE_OVERPRINT = "white overprint"
    REGISTRATION = "registration color"
    SPOT = "spot color"
    TRANSPARENCY = "transparency"
    BLENDING = "blending"
    LEFT_IN_COLOR = "left in color"
    RGB = "RGB"
    UNEXAMINED = "unexamined"


@dataclass(frozen=True, slots=True)
class ArtworkPart:
    """A part of an artwork, in its units; `area` is None if unknown.

    `size` is the width of a LINE, the height of the letters of a TEXT, the pixels of a PICTURE for each unit, or the
    percent of an INK. `name` is a font family, a color space or a spot color. `color` is that of the letters of a
    TEXT, one, three or four numbers as in a PDF; empty if unknown.
    """

    kind: Part
    area: Area | None = None
    size: float = 0.0
    name: str = ""
    is_embedded: bool = True
    color: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ArtworkFacts:
    """`width` and `height` in units of the artwork; `page`, `page_count` and `bare`, which has no letters, of a PDF."""

    width: float
    height: float
    parts: tuple[ArtworkPart, ...]
    is_readable: bool = True
    page: ArtworkPage | None = None
    page_count: int = 1
    bare: bytes = b""

    @property
    def weight(self) -> int:
        """The size in memory, in bytes."""
        return 500 + 400 * len(self.parts) + len(self.bare)

    def of_kind(self, kind: Part) -> Iterable[ArtworkPart]:
        return (part for part in self.parts if part.kind == kind)
