"""Facts about artwork, read once for each picture and cached: its parts, and the inks they print with."""

from printing.artwork.parts import OPERATORS, ArtworkFacts, ArtworkPart, Part
from printing.preflight.artwork.isolation import artwork_facts
