from fulfillment.core.caches import WeightedCache, register_cache
from stores.preflight.artwork.isolation import read_isolated
from stores.preflight.artwork.parts import PARTS, ArtworkFacts
from stores.preflight.artwork.svg import read_svg
from stores.typesetting import Artwork

CACHE_BYTES = 8_000_000

_facts: WeightedCache[str, ArtworkFacts] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda facts: 500 + 200 * len(facts.parts)
)
register_cache(_facts)


def artwork_facts(artwork: Artwork) -> ArtworkFacts:
    facts = _facts.get(artwork.digest)
    if facts is None:
        facts = _read(artwork)
        _facts.put(artwork.digest, facts)
    return facts


def _read(artwork: Artwork) -> ArtworkFacts:
    if artwork.media_type == "image/svg+xml":
        return ArtworkFacts(artwork.width, artwork.height, tuple(read_svg(artwork.data)[:PARTS]))
    if artwork.media_type == "application/pdf":
        return read_isolated(artwork.data)
    return ArtworkFacts(artwork.width, artwork.height, ())
