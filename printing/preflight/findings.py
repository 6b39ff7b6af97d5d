"""Findings on pages, their limits, and numbered frames over the picture of a page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from printing.area import Area
from printing.press.rules import BUILT_IN, ColorPolicy, PresetRules

# The limit for one rendering, because all findings are stored with it.
FINDINGS = 50
# The usual bleed of printers, for presets that keep the bleed of each template.
USUAL_BLEED_MM = 3.0
# Larger pages are viewed from further away and need fewer pixels, down to LOWEST_PPI.
READ_AT_HAND_MM = 500.0
LOWEST_PPI = 40.0
# Smaller frames would be invisible.
SMALLEST_MM = 1.5
# Padding, so that the frame does not cover small letters.
ROOM_MM = 0.4


class Severity(StrEnum):
    """An Error refuses an order."""

    ERROR = "Error"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of what is to be printed; `page` counts from 1. `box` is the place in the template's page, if any."""

    code: str
    severity: Severity
    page: int
    area: Area
    found: str
    wanted: str
    message: str
    remedy: str
    box: int | None = None

    def record(self) -> dict[str, Any]:
        """The finding for the API and for storage."""
        area = self.area
        box = {"X": area.x, "Y": area.y, "Width": area.width, "Height": area.height}
        return {
            "Code": self.code,
            "Severity": str(self.severity),
            "Page": self.page,
            "Box": {name: round(value, 2) for name, value in box.items()},
            "Found": self.found,
            "Wanted": self.wanted,
            "Message": self.message,
            "Remedy": self.remedy,
        }


def records(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [finding.record() for finding in findings]


def has_error(records: Iterable[Mapping[str, Any]]) -> bool:
    return any(finding["Severity"] == Severity.ERROR for finding in records)


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths in mm, sizes of type and lines in points, total ink in percent of four inks together.

    `severities` are those that the preset sets for a rule, by code: "Error", "Warning" or "Off".
    """

    policy: ColorPolicy
    bleed_mm: float
    safe_mm: float
    resolution_ppi: float
    total_ink: float
    severities: Mapping[str, str] = field(default_factory=dict)
    text_pt: float = 5.0
    reversed_text_pt: float = 6.0
    rich_text_pt: float = 12.0
    hairline_pt: float = 0.25
    contrast: float = 3.0
    keeps_overprint: bool = False
    size_tolerance_mm: float = 0.5
    artwork_tolerance_mm: float = 1.0

    @classmethod
    def of(cls, preset: PresetRules) -> "Limits":
        bleed = USUAL_BLEED_MM if preset.bleed_mm is None else preset.bleed_mm
        inks = float(preset.highest_ink)
        return cls(
            *(preset.policy, bleed, preset.safe_mm, float(preset.lowest_ppi), inks, preset.severities),
            keeps_overprint=preset.keeps_overprint,
        )

    def resolution_of(self, width_mm: float, height_mm: float) -> float:
        """The pixels per inch that a page of this size needs."""
        scaled = self.resolution_ppi * min(1.0, READ_AT_HAND_MM / max(width_mm, height_mm))
        return max(scaled, min(LOWEST_PPI, self.resolution_ppi))


USUAL = Limits.of(BUILT_IN)


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
    findings: Sequence[Mapping[str, Any]], page: int, view: tuple[float, float, float, float]
) -> PictureOfPage:
    """`page` counts from 1; `view` is left, top, width and height of the picture in mm from the trim."""
    view_box = " ".join(f"{part:g}" for part in view)
    places: dict[tuple[float, ...], list[int]] = {}
    for number, finding in enumerate(findings, 1):
        if finding["Page"] == page:
            places.setdefault(tuple(finding["Box"].values()), []).append(number)
    marks = [_draw_mark(numbers, findings[numbers[0] - 1]) for numbers in places.values()]
    return PictureOfPage(view_box, f"{max(view[2], view[3]) * 0.028:.2f}", marks)


def _draw_mark(numbers: Sequence[int], finding: Mapping[str, Any]) -> Mark:
    """A frame with the color of its first finding; errors come first."""
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
