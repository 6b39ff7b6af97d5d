from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from printing.preflight.geometry import Area

# The limit for one rendering, because all findings are stored with it.
FINDINGS = 50


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


def has_error(stored: Iterable[Mapping[str, Any]]) -> bool:
    return any(finding["Severity"] == Severity.ERROR for finding in stored)
