"""Data types of gang sheets: requests, press sheets and positions, in mm from the lower left."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

Turn = Literal["sheetwise", "work_and_turn", "work_and_tumble"]
Flip = Literal["left_right", "top_bottom"]
MARK_OFFSET_MM = 1.0
MAX_MM = 2000.0
MAX_QUANTITY = 1_000_000


@dataclass(frozen=True, slots=True)
class PressSheet:
    """A press sheet. `margin_mm` is the unprintable margin; `gripper_mm` counts at the bottom where it is more.
    `gutter_mm` is the distance between the trims of two pieces, and `slug_mm` the space at the bottom for job numbers.
    `flip` is how the press turns the sheet for the back. Work-and-turn prints fronts and backs side by side and turns
    left to right, work-and-tumble prints them one above the other and turns top to bottom. A run has `overs_percent`
    more sheets for setting up, at least `overs_least`.
    """

    width_mm: float = 450.0
    height_mm: float = 320.0
    margin_mm: float = 5.0
    gutter_mm: float = 6.0
    mark_mm: float = 4.0
    slug_mm: float = 7.0
    turn: Turn = "sheetwise"
    flip: Flip = "left_right"
    gripper_mm: float = 0.0
    overs_percent: float = 0.0
    overs_least: int = 0

    def __post_init__(self) -> None:
        for name in ("width_mm", "height_mm"):
            if not 0 < getattr(self, name) <= MAX_MM:
                raise ValueError(f"{name} must lie between 0 and {MAX_MM:g}.")
        for name in ("margin_mm", "gutter_mm", "mark_mm", "slug_mm", "gripper_mm", "overs_percent"):
            if not 0 <= getattr(self, name) <= 100:
                raise ValueError(f"{name} must lie between 0 and 100.")
        if self.turn not in get_args(Turn) or self.flip not in get_args(Flip):
            raise ValueError(f"turn must be one of {get_args(Turn)}, flip one of {get_args(Flip)}.")

    @property
    def is_one_form(self) -> bool:
        """Whether one form prints both sides."""
        return self.turn != "sheetwise"

    @property
    def is_tumbled(self) -> bool:
        """Whether the sheet turns top to bottom for its back."""
        return self.flip == "top_bottom" if self.turn == "sheetwise" else self.turn == "work_and_tumble"

    @property
    def bottom_mm(self) -> float:
        return max(self.margin_mm, self.gripper_mm)

    def overs(self, run: int) -> int:
        return max(self.overs_least, math.ceil(run * self.overs_percent / 100))


@dataclass(frozen=True, slots=True)
class GangRequest:
    """The finished pieces of a job. Only jobs with equal `preset` (paper and press settings) and turn share a sheet."""

    job_number: str
    width_mm: float
    height_mm: float
    bleed_mm: float
    quantity: int
    is_two_sided: bool
    preset: str = ""
    is_head_to_foot: bool = False  # how the back of a piece lies to its front
    panels: int = 1  # of equal length, into which folds divide the longer side of a piece

    def __post_init__(self) -> None:
        if not 1 <= self.quantity <= MAX_QUANTITY:
            raise ValueError(f"{self.job_number}: the quantity must lie between 1 and {MAX_QUANTITY:,}.")
        if not (0 < self.width_mm <= MAX_MM and 0 < self.height_mm <= MAX_MM):
            raise ValueError(f"{self.job_number}: width and height must lie between 0 and {MAX_MM:g} mm.")
        if not 0 <= self.bleed_mm <= 20:
            raise ValueError(f"{self.job_number}: the bleed must lie between 0 and 20 mm.")

    @property
    def kind(self) -> tuple[float, float, float, bool, str, bool]:
        return (
            round(self.width_mm, 3),
            round(self.height_mm, 3),
            round(self.bleed_mm, 3),
            self.is_two_sided,
            self.preset,
            self.is_two_sided and self.is_head_to_foot,
        )


@dataclass(frozen=True, slots=True)
class Place:
    """The trim of a piece on the sheet; `rotation` is counter-clockwise, `page` counts from 1."""

    job_number: str
    page: int
    x_mm: float
    y_mm: float
    width_mm: float
    height_mm: float
    rotation: int


@dataclass(frozen=True, slots=True)
class PlannedSheet:
    """A layout, printed on `run` sheets and as `overs` to set up. `counts` are the pieces of each job on a sheet."""

    number: int
    of: int
    run: int
    sheet: PressSheet
    bleed_mm: float
    preset: str
    fronts: tuple[Place, ...]
    backs: tuple[Place, ...]
    counts: Mapping[str, int]
    is_head_to_foot: bool = False  # how the backs of the pieces lie to their fronts
    panels: int = 1

    @property
    def overs(self) -> int:
        return self.sheet.overs(self.run)

    @property
    def printed(self) -> int:
        return self.run + self.overs

    @property
    def prints_backs(self) -> bool:
        return bool(self.backs) or any(place.page == 2 for place in self.fronts)

    @property
    def cut_xs(self) -> list[float]:
        return _find_edges((place.x_mm, place.width_mm) for place in self.fronts)

    @property
    def cut_ys(self) -> list[float]:
        return _find_edges((place.y_mm, place.height_mm) for place in self.fronts)

    @property
    def folds(self) -> tuple[list[float], list[float]]:
        """The places of the folds of the pieces, across and up the sheet."""
        parts = [part / self.panels for part in range(1, self.panels)]
        first = self.fronts[0]
        width, height = first.width_mm, first.height_mm
        if width > height or (width == height and not first.rotation % 180):
            lines = {round(place.x_mm + part * place.width_mm, 4) for place in self.fronts for part in parts}
            return sorted(lines), []
        lines = {round(place.y_mm + part * place.height_mm, 4) for place in self.fronts for part in parts}
        return [], sorted(lines)


@dataclass(frozen=True, slots=True)
class Slug:
    """The slug line on all jobs of a sheet: the code that is scanned for them, and the day that the first of
    them must leave."""

    code: str = ""
    ship_by: date | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """`waste` is the share of slots on all sheets, overs included, without an ordered piece."""

    sheets: Sequence[PlannedSheet]
    ordered: Mapping[str, int]
    produced: Mapping[str, int]
    waste: float

    @property
    def printed(self) -> int:
        return sum(sheet.printed for sheet in self.sheets)


def ship_by_words(day: date | None) -> str:
    return f"   SHIP BY {day:%b} {day.day}, {day.year}" if day else ""


def _find_edges(spans: Iterable[tuple[float, float]]) -> list[float]:
    return sorted({round(edge, 4) for start, length in spans for edge in (start, start + length)})
