"""A validated template: pages with boxes in millimetres, their colors, and the pictures they place."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

PAGES = 32
BOXES_OF_A_PAGE = 60
PAGE_MM = (20.0, 2000.0)
BLEED_MM = (0.0, 25.0)
FONT_SIZE = (3.0, 1000.0)
# A box may hang over its page: its place and size are limited by so many times the page's width and height.
PLACE_OF_PAGE = (-1.0, 2.0)
SMALLEST_BOX = 0.5
MAX_OF_PAGE = 2.0
BOX_LIMITS = {
    "Rotation": (-360.0, 360.0),
    "Radius": (0.0, 1000.0),
    "Size": FONT_SIZE,
    "MinimumSize": FONT_SIZE,
    "Weight": (100.0, 900.0),
    "Tracking": (-0.1, 1.0),
    "LineSpacing": (0.8, 3.0),
}
NAME_LETTERS = 60
# Texts of a fixed form on EDDM pieces; drawn as Text, the indicia in a frame.
EDDM_INDICIA, EDDM_ADDRESS = "EddmIndicia", "EddmAddress"
FIXED_TEXTS = {
    EDDM_INDICIA: "PRSRT STD\nECRWSS\nU.S. POSTAGE\nPAID\nEDDM RETAIL",
    EDDM_ADDRESS: "Local\nPostal Customer",
}
TEXT_LETTERS = 2000
EXTENSIONS = {"image/svg+xml": "svg", "image/png": "png", "image/jpeg": "jpg", "application/pdf": "pdf"}


@dataclass(frozen=True, slots=True)
class RGB:
    """An sRGB color as `#rrggbb`."""

    code: str

    def as_json(self) -> str:
        return self.code


@dataclass(frozen=True, slots=True)
class CMYK:
    """A process color, each part 0 to 100 percent; or what shows a spot color where there is no plate for it."""

    cyan: float
    magenta: float
    yellow: float
    black: float
    spot: str = ""

    def as_json(self) -> list[float]:
        return [self.cyan, self.magenta, self.yellow, self.black]


@dataclass(frozen=True, slots=True)
class Artwork:
    """A picture that belongs to a template; `digest` is the SHA-256 of `data`.

    `is_placed` for a PDF that was prepared and is as large as its page and bleed.
    """

    name: str
    media_type: str
    data: bytes
    digest: str
    width: float
    height: float
    is_placed: bool = False

    @property
    def file_name(self) -> str:
        return f"{self.digest}.{EXTENSIONS[self.media_type]}"


@dataclass(frozen=True, slots=True)
class Box:
    """A box on a page; lengths in mm from the trimmed page's top left corner, sizes of type in points.

    `role` is EDDM_INDICIA or EDDM_ADDRESS for a text of this fixed form.
    """

    kind: str
    field: str | None
    text: str | None
    x: float
    y: float
    width: float
    height: float
    rotation: float = 0.0
    color: RGB | CMYK = RGB("#000000")
    background: RGB | CMYK | None = None
    font: str = "Lato"
    weight: int = 400
    italic: bool = False
    size: float = 10.0
    minimum_size: float = 10.0
    tracking: float = 0.0
    align: str = "left"
    vertical_align: str = "top"
    line_spacing: float = 1.2
    fit: str = "shrink"
    radius: float = 0.0
    role: str = ""

    @property
    def is_framed(self) -> bool:
        return self.role == EDDM_INDICIA


@dataclass(frozen=True, slots=True)
class Page:
    """A page's trim size, bleed, background artwork and boxes, drawn in this order."""

    width: float
    height: float
    bleed: float
    background: str | None
    boxes: tuple[Box, ...]

    def with_bleed(self) -> "Page":
        """A page as large as this one with its bleed, that looks the same."""
        bleed = self.bleed
        boxes = tuple(replace(box, x=box.x + bleed, y=box.y + bleed) for box in self.boxes)
        return Page(self.width + 2 * bleed, self.height + 2 * bleed, 0.0, self.background, boxes)


@dataclass(frozen=True, slots=True)
class Template:
    """A checked template; `digest` changes when anything in it does."""

    digest: str
    pages: tuple[Page, ...]
    artwork: Mapping[str, Artwork]
    gallery: Mapping[str, Artwork]
    families: frozenset[str]

    @property
    def pictures(self) -> list[Artwork]:
        return [*self.artwork.values(), *self.gallery.values()]

    @property
    def has_pdf(self) -> bool:
        return any(picture.media_type == "application/pdf" for picture in self.pictures)

    @property
    def artwork_digest(self) -> str:
        """Equal for templates with the same pictures, so that a draft under edit writes its pictures only once."""
        names = sorted({picture.file_name for picture in self.pictures})
        return hashlib.sha256("\n".join(names).encode()).hexdigest()
