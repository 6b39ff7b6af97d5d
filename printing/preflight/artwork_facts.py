"""Facts about artwork, read once for each picture and cached.

A PDF is read in a process of its own: a file of some kilobytes can unpack to gigabytes.
"""

import threading
from dataclasses import replace

from printing.area import Area
from printing.artwork.packing import sides_of, trim_in_points, unpack_facts
from printing.artwork.parts import PARTS, ArtworkFacts
from printing.artwork.pdf import UNREADABLE
from printing.bounded import TaskFailed, run_bounded
from printing.caches import WeightedCache
from printing.preflight.svg import read_svg
from printing.press.artwork import ArtworkRefused
from printing.typesetting import Artwork
from printing.typesetting.artwork import prepare_template_artwork

SECONDS, MEMORY_BYTES = 10.0, 512 << 20

_one_at_a_time = threading.Lock()
CACHE_BYTES = 32_000_000


def read_isolated(content: bytes, trim: Area | None = None) -> ArtworkFacts:
    """Reads as `read_pdf` does; a PDF that takes too much memory or time counts as unreadable."""
    task, files = "printing.artwork.packing:read_in_folder", {"artwork": content}
    try:
        with (
            _one_at_a_time,
            run_bounded(task, files, seconds=SECONDS, memory=MEMORY_BYTES, trim=sides_of(trim)) as (
                reply,
                folder,
            ),
        ):
            return unpack_facts(reply, (folder / "bare").read_bytes())
    except TaskFailed:
        return UNREADABLE


artwork_cache: WeightedCache[str, ArtworkFacts] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda facts: facts.weight
)


def artwork_facts(artwork: Artwork) -> ArtworkFacts:
    return artwork_cache.get_or_make(artwork.digest, lambda: _read_facts(artwork))


def _read_facts(artwork: Artwork) -> ArtworkFacts:
    if artwork.media_type == "image/svg+xml":
        return ArtworkFacts(artwork.width, artwork.height, tuple(read_svg(artwork.data)[:PARTS]))
    if artwork.media_type == "application/pdf":
        return _read_pdf(artwork)
    return ArtworkFacts(artwork.width, artwork.height, ())


def _read_pdf(artwork: Artwork) -> ArtworkFacts:
    """Reads the prepared PDF, which is what will be printed."""
    try:
        prepared = prepare_template_artwork(artwork)
    except ArtworkRefused:
        return UNREADABLE
    trim = trim_in_points(prepared.pages[0])
    return replace(read_isolated(prepared.pdf, trim), page=prepared.pages[0], page_count=len(prepared.pages))
