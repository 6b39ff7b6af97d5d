"""Findings on pages: a numbered frame over the picture of a page, and the same number in a list."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Smaller frames would be invisible.
SMALLEST_MM = 1.5
# Padding, so that the frame does not cover small letters.
ROOM_MM = 0.4


@dataclass(frozen=True, slots=True)
class Mark:
    """Lengths are attributes of SVG, in millimetres of the trimmed page; findings of one place share a frame."""

    numbers: str
    severity: str
    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True, slots=True)
class PictureOfPage:
    """`view_box` covers what the picture shows; `letter` is the size of a number on it."""

    view_box: str
    letter: str
    marks: list[Mark]


def picture_of_page(
    findings: Sequence[Mapping[str, Any]], page: int, shown: tuple[float, float, float, float]
) -> PictureOfPage:
    """`page` counts from 1; `shown` is left, top, width and height of the picture in mm from the trim."""
    view_box = " ".join(f"{part:g}" for part in shown)
    places: dict[tuple[float, ...], list[int]] = {}
    for number, one in enumerate(findings, 1):
        if one["Page"] == page:
            places.setdefault(tuple(one["Box"].values()), []).append(number)
    marks = [_mark(numbers, findings[numbers[0] - 1]) for numbers in places.values()]
    return PictureOfPage(view_box, f"{max(shown[2], shown[3]) * 0.028:.2f}", marks)


def _mark(numbers: Sequence[int], finding: Mapping[str, Any]) -> Mark:
    """A frame with the colour of its first finding; errors come first."""
    box = finding["Box"]
    width, height = (max(box[side] + 2 * ROOM_MM, SMALLEST_MM) for side in ("Width", "Height"))
    return Mark(
        ", ".join(map(str, numbers)),
        finding["Severity"].lower(),
        f"{box['X'] - (width - box['Width']) / 2:g}",
        f"{box['Y'] - (height - box['Height']) / 2:g}",
        f"{width:g}",
        f"{height:g}",
    )
