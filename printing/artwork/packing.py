"""What was read of a PDF, on its way from the process that reads it to the one that asks."""

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from printing.area import Area
from printing.artwork.parts import ArtworkFacts, ArtworkPart, Part
from printing.artwork.pdf import UNREADABLE, read_pdf
from printing.press.artwork import MM, ArtworkPage


def read_in_folder(folder: Path, trim: list[float]) -> dict[str, Any]:
    facts = read_pdf((folder / "artwork").read_bytes(), trim=Area(*trim) if trim else None)
    (folder / "bare").write_bytes(facts.bare)
    return pack_facts(facts)


def pack_facts(facts: ArtworkFacts) -> dict[str, Any]:
    """Packs facts as JSON can hold them, without what has no letters."""
    facts = _make_finite(facts)
    parts = [asdict(part) for part in facts.parts]
    return {"width": facts.width, "height": facts.height, "is_readable": facts.is_readable, "parts": parts}


def unpack_facts(reply: Mapping[str, Any], bare: bytes) -> ArtworkFacts:
    parts = tuple(_unpack_part(record) for record in reply["parts"])
    return ArtworkFacts(reply["width"], reply["height"], parts, reply["is_readable"], bare=bare)


def _make_finite(facts: ArtworkFacts) -> ArtworkFacts:
    """Numbers of a PDF may have hundreds of digits; nothing that is stored may be infinite."""
    if not (math.isfinite(facts.width) and math.isfinite(facts.height)):
        return UNREADABLE
    parts = (
        part
        for part in facts.parts
        if all(map(math.isfinite, (part.size, *sides_of(part.area), *part.color)))
    )
    return replace(facts, parts=tuple(parts))


def trim_in_points(page: ArtworkPage) -> Area | None:
    if page.trim is None:
        return None
    return Area(*(side / MM for side in sides_of(page.trim)))


def sides_of(area: Area | None) -> list[float]:
    return [area.x, area.y, area.width, area.height] if area else []


def _unpack_part(record: Mapping[str, Any]) -> ArtworkPart:
    area = Area(**record["area"]) if record["area"] else None
    kind, color = Part(record["kind"]), tuple(record["color"])
    return ArtworkPart(**{**record, "kind": kind, "area": area, "color": color})
