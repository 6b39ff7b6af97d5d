"""The limits that findings are judged by: those of a product's print preset, else the built-in ones."""

from dataclasses import dataclass
from enum import StrEnum

# An eighth of an inch: cutting is off by less. What is nearer to the edge may be cut.
SAFE_MM = 3.175
# A larger page is seen from further away and needs fewer pixels, down to LOWEST_PPI.
READ_AT_HAND_MM = 500.0
LOWEST_PPI = 40.0


class Policy(StrEnum):
    """What becomes of the source's colours, as a print preset says."""

    MANAGED = "Managed"
    CMYK = "CMYK"


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths in mm, sizes of type and lines in points, total ink in percent of four inks together."""

    policy: Policy = Policy.MANAGED
    bleed_mm: float = 3.0
    safe_mm: float = SAFE_MM
    resolution_ppi: float = 150.0
    total_ink: float = 300.0
    text_pt: float = 5.0
    reversed_text_pt: float = 6.0
    rich_text_pt: float = 12.0
    hairline_pt: float = 0.25
    contrast: float = 1.5
    size_tolerance_mm: float = 0.5

    def resolution_of(self, width_mm: float, height_mm: float) -> float:
        """The pixels per inch that a page of this size needs."""
        scaled = self.resolution_ppi * min(1.0, READ_AT_HAND_MM / max(width_mm, height_mm))
        return max(scaled, min(LOWEST_PPI, self.resolution_ppi))


MANAGED = Limits()
