"""Facts about artwork, read once for each picture and cached: its parts, and the inks they print with."""

from printing.preflight.artwork.parts import ArtworkFacts, ArtworkPart, Part
from printing.preflight.artwork.reading import artwork_facts

__all__ = ["ArtworkFacts", "ArtworkPart", "Part", "artwork_facts"]
