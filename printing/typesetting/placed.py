"""Artwork PDFs of templates as they are printed: prepared once by each process, and placed on a page."""

from printing.caches import WeightedCache
from printing.press import isolation
from printing.press.artwork import ArtworkRefused, PreparedArtwork, place_artwork
from printing.typesetting.errors import RenderingFailed
from printing.typesetting.template import Artwork

CACHE_BYTES = 64_000_000
MEDIA_TYPE = "application/pdf"

prepared_cache: WeightedCache[str, PreparedArtwork] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda one: 1000 + len(one.pdf)
)


def prepared(artwork: Artwork) -> PreparedArtwork:
    """Raises ArtworkRefused."""
    found = prepared_cache.get(artwork.digest)
    if found is None:
        found = isolation.prepare(artwork.data)
        prepared_cache.put(artwork.digest, found)
    return found


def placed(artwork: Artwork, size: tuple[float, float] | None = None) -> bytes:
    """The first page on a sheet of this size in mm, or as large as it is trimmed. Raises RenderingFailed."""
    try:
        made = prepared(artwork)
    except ArtworkRefused as error:
        raise RenderingFailed(f"{artwork.name}: {error}") from error
    return place_artwork(made.pdf, made.pages[0], 0, *(size or made.pages[0].size))
