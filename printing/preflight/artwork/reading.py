from printing.caches import WeightedCache
from printing.preflight.artwork.isolation import read_isolated
from printing.preflight.artwork.parts import PARTS, ArtworkFacts
from printing.preflight.artwork.svg import read_svg
from printing.typesetting import Artwork

CACHE_BYTES = 8_000_000

artwork_cache: WeightedCache[str, ArtworkFacts] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda facts: 500 + 200 * len(facts.parts)
)


def artwork_facts(artwork: Artwork) -> ArtworkFacts:
    facts = artwork_cache.get(artwork.digest)
    if facts is None:
        facts = _read(artwork)
        artwork_cache.put(artwork.digest, facts)
    return facts


def _read(artwork: Artwork) -> ArtworkFacts:
    if artwork.media_type == "image/svg+xml":
        return ArtworkFacts(artwork.width, artwork.height, tuple(read_svg(artwork.data)[:PARTS]))
    if artwork.media_type == "application/pdf":
        return read_isolated(artwork.data)
    return ArtworkFacts(artwork.width, artwork.height, ())
