"""Rectangles on a page, from its upper left corner."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Area:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def size(self) -> float:
        return self.width * self.height

    def overlap(self, other: "Area") -> float:
        """The common area in square millimetres."""
        across = min(self.right, other.right) - max(self.x, other.x)
        down = min(self.bottom, other.bottom) - max(self.y, other.y)
        return max(across, 0.0) * max(down, 0.0)

    def touches(self, other: "Area") -> bool:
        """Whether the areas meet, also for a line, which has no area."""
        across = self.x <= other.right and self.right >= other.x
        return across and self.y <= other.bottom and self.bottom >= other.y

    def insets(self, around: "Area") -> tuple[float, float, float, float]:
        """The distances to the left, top, right and bottom of an area around it; negative outside of that."""
        return self.x - around.x, self.y - around.y, around.right - self.right, around.bottom - self.bottom


def enclosing(points: Iterable[tuple[float, float]]) -> Area:
    across, down = zip(*points, strict=True)
    return Area(min(across), min(down), max(across) - min(across), max(down) - min(down))
