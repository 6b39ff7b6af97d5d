"""What the artwork of a template holds, read once for each picture and kept: parts, and what they print with."""

from stores.preflight.artwork.parts import ArtworkFacts, ArtworkPart, Part
from stores.preflight.artwork.reading import artwork_facts

__all__ = ["ArtworkFacts", "ArtworkPart", "Part", "artwork_facts"]
