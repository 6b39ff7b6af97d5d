"""The rules of a print preset as plain data: stores.presets stores them, writer and preflight read them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

PDF_X4 = "PDF/X-4"
BUILT_IN_CODE = "built-in"


class ColorPolicy(StrEnum):
    """`MANAGED` keeps the colors of the source, with their profiles; `CMYK` converts all to the output condition."""

    MANAGED = "Managed"
    CMYK = "CMYK"


@dataclass(frozen=True, slots=True)
class PresetRules:
    """A print preset. The defaults are the built-in one, of products that name none.

    `profile` is the SHA-256 of an output profile, or empty for the shipped one. `bleed_mm` is the bleed that the
    printer wants; None keeps the bleed of each template. `keeps_overprint` is of artwork PDFs, and proofs do not show
    it. Text keeps `safe_mm` from the trim. `severities` replaces the severity of preflight rules, by code: "Error",
    "Warning" or "Off".
    """

    code: str = BUILT_IN_CODE
    name: str = "CMYK"
    standard: str = PDF_X4
    policy: ColorPolicy = ColorPolicy.CMYK
    profile: str = ""
    bleed_mm: float | None = None
    safe_mm: float = 3.0
    marks: bool = True
    slug: bool = False
    keeps_overprint: bool = False
    highest_ink: int = 300
    lowest_ppi: int = 150
    # Customers send photos and artwork in RGB: to say so of each would hide what matters.
    severities: Mapping[str, str] = field(
        default_factory=lambda: {"picture_rgb": "Off", "artwork_rgb": "Off"}
    )

    @property
    def is_cmyk(self) -> bool:
        return self.policy == ColorPolicy.CMYK

    @property
    def digest(self) -> str:
        """A digest of what affects print files, so not of names and severities."""
        values = {
            key: value for key, value in asdict(self).items() if key not in {"code", "name", "severities"}
        }
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    @property
    def printed_with(self) -> dict[str, str]:
        """The record that is kept with a print file: presets are renamed, changed and removed later."""
        return {"Code": self.code, "Name": self.name, "Digest": self.digest}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "PresetRules":
        """Reads what `PrintPreset.RULES_SQL` writes."""
        return cls(**{**record, "policy": ColorPolicy(record["policy"])})


BUILT_IN = PresetRules()
