"""PDF artwork, read in a process of its own: a file of some kilobytes can unpack to gigabytes."""

import math
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from printing.bounded import TaskFailed, run_bounded
from printing.caches import WeightedCache
from printing.preflight.artwork.parts import PARTS, ArtworkFacts, ArtworkPart, Part
from printing.preflight.artwork.pdf import UNREADABLE, read_pdf
from printing.preflight.artwork.svg import read_svg
from printing.preflight.geometry import MM_OF_POINT, Area
from printing.press.artwork import ArtworkPage, ArtworkRefused
from printing.typesetting import Artwork
from printing.typesetting.artwork import prepared

SECONDS, MEMORY_BYTES = 10.0, 512 << 20

_one_at_a_time = threading.Lock()
CACHE_BYTES = 32_000_000


def read_isolated(content: bytes, trim: Area | None = None) -> ArtworkFacts:
    """As `read_pdf`; a PDF that takes too much memory or time counts as unreadable."""
    task, files = "printing.preflight.artwork.isolation:read_in_folder", {"artwork": content}
    try:
        with (
            _one_at_a_time,
            run_bounded(task, files, seconds=SECONDS, memory=MEMORY_BYTES, trim=_sides(trim)) as (
                reply,
                folder,
            ),
        ):
            return unpacked_facts(reply, (folder / "bare").read_bytes())
    except TaskFailed:
        return UNREADABLE


def read_in_folder(folder: Path, trim: list[float] | None) -> dict[str, Any]:
    facts = read_pdf((folder / "artwork").read_bytes(), trim=Area(*trim) if trim else None)
    (folder / "bare").write_bytes(facts.bare)
    return packed_facts(facts)


def packed_facts(facts: ArtworkFacts) -> dict[str, Any]:
    """As JSON can hold them, without what has no letters."""
    facts = _finite(facts)
    return {
        "width": facts.width,
        "height": facts.height,
        "is_readable": facts.is_readable,
        "parts": [
            [one.kind, _sides(one.area), one.size, one.name, one.is_embedded, one.color]
            for one in facts.parts
        ],
    }


def unpacked_facts(reply: Mapping[str, Any], bare: bytes) -> ArtworkFacts:
    parts = tuple(_part(*one) for one in reply["parts"])
    return ArtworkFacts(reply["width"], reply["height"], parts, reply["is_readable"], bare=bare)


def _finite(facts: ArtworkFacts) -> ArtworkFacts:
    """Numbers of a PDF may have hundreds of digits; nothing that is stored may be infinite."""
    if not (math.isfinite(facts.width) and math.isfinite(facts.height)):
        return UNREADABLE
    parts = (
        one
        for one in facts.parts
        if all(map(math.isfinite, (one.size, *(_sides(one.area) or ()), *one.color)))
    )
    return replace(facts, parts=tuple(parts))


def trim_in_points(page: ArtworkPage) -> Area | None:
    if page.trim is None:
        return None
    sides = (page.trim.x, page.trim.y, page.trim.width, page.trim.height)
    return Area(*(side / MM_OF_POINT for side in sides))


def _sides(area: Area | None) -> list[float] | None:
    return [area.x, area.y, area.width, area.height] if area else None


def _part(
    kind: str, sides: list[float] | None, size: float, name: str, is_embedded: bool, color: list[float]
) -> ArtworkPart:
    return ArtworkPart(Part(kind), Area(*sides) if sides else None, size, name, is_embedded, tuple(color))


artwork_cache: WeightedCache[str, ArtworkFacts] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda facts: facts.weight
)


def artwork_facts(artwork: Artwork) -> ArtworkFacts:
    return artwork_cache.get_or_make(artwork.digest, lambda: _read(artwork))


def _read(artwork: Artwork) -> ArtworkFacts:
    if artwork.media_type == "image/svg+xml":
        return ArtworkFacts(artwork.width, artwork.height, tuple(read_svg(artwork.data)[:PARTS]))
    if artwork.media_type == "application/pdf":
        return _read_pdf(artwork)
    return ArtworkFacts(artwork.width, artwork.height, ())


def _read_pdf(artwork: Artwork) -> ArtworkFacts:
    """What is read is what will be printed: the prepared PDF."""
    try:
        made = prepared(artwork)
    except ArtworkRefused:
        return UNREADABLE
    trim = trim_in_points(made.pages[0])
    return replace(read_isolated(made.pdf, trim), page=made.pages[0], page_count=len(made.pages))
