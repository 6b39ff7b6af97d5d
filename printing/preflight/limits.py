"""The limits of preflight: those of a product's print preset, and general ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from printing.press.rules import MANAGED, ColourPolicy, PresetRules

# The usual bleed of printers, for presets that keep the bleed of each template.
USUAL_BLEED_MM = 3.0
# Larger pages are viewed from further away and need fewer pixels, down to LOWEST_PPI.
READ_AT_HAND_MM = 500.0
LOWEST_PPI = 40.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths in mm, sizes of type and lines in points, total ink in percent of four inks together.

    `severities` are those that the preset sets for a rule, by code: "Error", "Warning" or "Off".
    """

    policy: ColourPolicy
    bleed_mm: float
    safe_mm: float
    resolution_ppi: float
    total_ink: float
    severities: Mapping[str, str] = field(default_factory=dict)
    text_pt: float = 5.0
    reversed_text_pt: float = 6.0
    rich_text_pt: float = 12.0
    hairline_pt: float = 0.25
    contrast: float = 1.5
    size_tolerance_mm: float = 0.5

    @classmethod
    def of(cls, preset: PresetRules) -> "Limits":
        bleed = USUAL_BLEED_MM if preset.bleed_mm is None else preset.bleed_mm
        inks = float(preset.highest_ink)
        return cls(preset.policy, bleed, preset.safe_mm, float(preset.lowest_ppi), inks, preset.severities)

    def resolution_of(self, width_mm: float, height_mm: float) -> float:
        """The pixels per inch that a page of this size needs."""
        scaled = self.resolution_ppi * min(1.0, READ_AT_HAND_MM / max(width_mm, height_mm))
        return max(scaled, min(LOWEST_PPI, self.resolution_ppi))


USUAL = Limits.of(MANAGED)
