"""Facts about artwork, read once for each picture and cached: its parts, and the inks they print with."""

from printing.preflight.artwork.isolation import artwork_facts
from printing.preflight.artwork.parts import OPERATORS, ArtworkFacts, ArtworkPart, Part
