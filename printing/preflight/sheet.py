"""The input of the rules: every visible box with its area and its background."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from printing.area import Area
from printing.artwork.parts import ArtworkFacts, ArtworkPart, Part
from printing.preflight.artwork_facts import artwork_facts
from printing.preflight.background_pixels import BackgroundPixels, background_pixels_of, without_letters
from printing.preflight.colors import PlateInk, ScreenColor, plate_inks, rgb_of
from printing.preflight.findings import Limits
from printing.preflight.geometry import MM_OF_POINT, box_area, picture_area, text_area, trim_area
from printing.preflight.pictures import PictureFacts, facts_of
from printing.press.die_lines import is_tool
from printing.text import is_blank
from printing.typesetting import BUILT_IN_PRESS, Artwork, FontSet, Press, SetText, Template
from printing.typesetting.template import CMYK, Box, Page

TITLE_LETTERS = 24


@dataclass(frozen=True, slots=True)
class ProductFacts:
    """The trimmed size of the product in mm, its number of pages, and whether it is mailed by EDDM."""

    width_mm: float
    height_mm: float
    page_count: int
    is_eddm: bool = False


@dataclass(frozen=True, slots=True)
class PreflightInput:
    """A template with a customer's values, as it was typeset.

    `images` are uploads as they are printed, `digests` theirs, where they are known, and `plated` the fields whose
    picture keeps its own inks; `only` names the pages to look at, if not all. `facts` are known ones of artwork, by
    its digest; `press` makes the plates. Of a customer's PDF `missing_pages` and `ignored_pages` count those before
    and behind its end, and `die_lines` are the plates of tools that the product's template has. Nothing is drawn after
    `until`, by `own_time`.
    """

    template: Template
    values: Mapping[str, str]
    images: Mapping[str, bytes]
    fonts: FontSet
    texts: Sequence[SetText] = ()
    product: ProductFacts | None = None
    digests: Mapping[str, str] | None = None
    plated: Collection[str] = ()
    only: Collection[int] | None = None
    facts: Mapping[str, ArtworkFacts] = field(default_factory=dict)
    press: Press = BUILT_IN_PRESS
    missing_pages: int = 0
    ignored_pages: int = 0
    die_lines: frozenset[str] = frozenset()
    until: float = math.inf


@dataclass(frozen=True, slots=True)
class VisibleBox:
    """A visible box. `area` is its inked area; `color_behind` is the color of the page below it."""

    number: int
    page: Page
    box_index: int
    box: Box
    content: str
    area: Area
    text: SetText | None = None
    picture: PictureFacts | None = None
    artwork: Artwork | None = None
    color_behind: ScreenColor | None = None

    @property
    def title(self) -> str:
        if self.box.field is not None:
            return self.box.field
        words = " ".join(self.content.split())
        return f"The text “{words[:TITLE_LETTERS]}{'…' if len(words) > TITLE_LETTERS else ''}”"


@dataclass(frozen=True, slots=True)
class Background:
    """A page's background; `unit_mm` is how long a unit of the artwork is on the page."""

    number: int
    page: Page
    artwork: Artwork
    facts: ArtworkFacts

    @property
    def unit_mm(self) -> float:
        if self.facts.page is not None:
            return MM_OF_POINT
        return (self.page.width + 2 * self.page.bleed) / self.facts.width if self.facts.width else 0.0

    def points(self, part: ArtworkPart) -> float:
        """The size of a line or of letters on the page."""
        return part.size * self.unit_mm / MM_OF_POINT

    def place(self, area: Area | None) -> Area:
        """Converts an area of the artwork to the page; the whole page if it is unknown."""
        if area is None or not self.unit_mm:
            return trim_area(self.page)
        unit, left, top = self.unit_mm, self.page.bleed, self.page.bleed
        if self.facts.page is not None:
            x, y = self.facts.page.center
            left, top = x - self.page.width / 2, y - self.page.height / 2
        return Area(area.x * unit - left, area.y * unit - top, area.width * unit, area.height * unit)

    def mixes_inks(self, limits: Limits) -> bool:
        kinds = {part.kind for part in self.facts.parts}
        is_heavy = any(part.size > limits.total_ink for part in self.facts.of_kind(Part.INK))
        is_svg = self.artwork.media_type == "image/svg+xml"
        return (
            Part.BLENDING in kinds
            or (is_svg and b"mix-blend-mode" in self.artwork.data)
            or (limits.keeps_overprint and Part.OVERPRINT in kinds)
            or (is_heavy and Part.TRANSPARENCY in kinds)
        )

    @property
    def bleeds(self) -> tuple[float, float, float, float]:
        """How far the background reaches beyond the trim at the left, top, right and bottom."""
        if self.facts.page is None:
            return (self.page.bleed,) * 4
        (x, y), (width, height) = self.facts.page.center, (self.page.width, self.page.height)
        trim = Area(x - width / 2, y - height / 2, width, height)
        return trim.insets(self.facts.page.reach)


def die_lines_of(template: Template, facts: Mapping[str, ArtworkFacts] | None = None) -> frozenset[str]:
    """The plates of tools in boxes and backgrounds; `facts` are known ones, by the digest of artwork."""
    artworks = [template.artwork[page.background] for page in template.pages if page.background is not None]
    names = [
        part.name
        for artwork in artworks
        for part in ((facts or {}).get(artwork.digest) or artwork_facts(artwork)).of_kind(Part.SPOT)
    ]
    return frozenset(name for name in (*names, *plates_of_boxes(template)) if is_tool(name))


def plates_of_boxes(template: Template) -> list[str]:
    """The spot colors of boxes and their backgrounds; empty for a color of the process."""
    return [
        color.spot
        for page in template.pages
        for box in page.boxes
        for color in (box.color, box.background)
        if isinstance(color, CMYK)
    ]


class CheckedSheet:
    """The data for all rules; expensive parts are read when a rule first needs them."""

    def __init__(self, job: PreflightInput, limits: Limits) -> None:
        self.job, self.limits = job, limits
        self.template, self.fonts, self.product = job.template, job.fonts, job.product
        numbers = job.only if job.only is not None else range(len(job.template.pages))
        self.pages = [(number, job.template.pages[number]) for number in numbers]
        self._set_texts = {(text.page, text.box): text for text in job.texts}
        # Nothing of a customer's PDF stays unexamined: an error of it rejects an order.
        is_pdf = any(artwork.is_placed for artwork in job.template.artwork.values())
        self._drawing: dict[str, Any] = {"until": job.until, "is_strict": is_pdf}

    @cached_property
    def visible_boxes(self) -> list[VisibleBox]:
        return [box for number, page in self.pages for box in self._shown_on_page(number, page)]

    @cached_property
    def backgrounds(self) -> list[Background]:
        artwork = self.template.artwork
        return [
            Background(number, page, picture, self.job.facts.get(picture.digest) or artwork_facts(picture))
            for number, page in self.pages
            if page.background is not None and (picture := artwork[page.background])
        ]

    def parts_behind(self, kind: Part) -> Iterator[tuple[Background, ArtworkPart]]:
        return ((behind, part) for behind in self.backgrounds for part in behind.facts.of_kind(kind))

    @cached_property
    def background_pixels(self) -> dict[int, BackgroundPixels]:
        """A page without boxes is looked at without its letters: one picture serves bleed and contrast."""
        bare = self._bare_pixels
        remaining = [number for number, page in self.pages if page.boxes or number not in bare]
        return bare | background_pixels_of(self.template, remaining, **self._drawing)

    def ground_of(self, behind: Background, area: Area) -> ScreenColor | None:
        """The color of the page behind letters of a PDF, as it is drawn without them."""
        pixels = self._bare_pixels.get(behind.number)
        return pixels.mean(area) if pixels is not None else None

    @cached_property
    def _bare_pixels(self) -> dict[int, BackgroundPixels]:
        lettered = [
            background
            for background in self.backgrounds
            if background.facts.page is not None and background.facts.bare
        ]
        bare = without_letters(
            self.template, [(background.artwork, background.facts) for background in lettered]
        )
        return background_pixels_of(bare, [background.number for background in lettered], **self._drawing)

    @cached_property
    def plate_inks(self) -> dict[int, PlateInk]:
        """The inks of pages where those of the parts mislead: they blend or overprint, or heavy ink may be faint."""
        most = self.limits.total_ink
        numbers = [background.number for background in self.backgrounds if background.mixes_inks(self.limits)]
        return plate_inks(self.template, numbers, self.job.press, most, self.job.until)

    @property
    def texts(self) -> Iterator[tuple[VisibleBox, SetText]]:
        return ((visible, visible.text) for visible in self.visible_boxes if visible.text is not None)

    @property
    def pictures(self) -> Iterator[tuple[VisibleBox, PictureFacts]]:
        return ((visible, visible.picture) for visible in self.visible_boxes if visible.picture is not None)

    def _shown_on_page(self, number: int, page: Page) -> Iterator[VisibleBox]:
        """The boxes in drawing order, later ones on top."""
        pixels = self.background_pixels.get(number)
        canvas = pixels.copy() if pixels is not None and page.boxes else None
        for index, box in enumerate(page.boxes):
            content = box.text if box.field is None else self.job.values.get(box.field, "")
            if content is None or is_blank(content):
                continue
            visible = self._visible_box(number, page, index, content)
            if canvas is not None and box.background is not None:
                canvas.fill(box_area(box), rgb_of(box.background))
            ground = canvas.mean(visible.area) if canvas is not None and box.kind != "Image" else None
            if canvas is not None and visible.picture is not None:
                canvas.paste(visible.area, visible.picture.thumbnail)
            yield replace(visible, color_behind=ground)

    def _visible_box(self, number: int, page: Page, index: int, content: str) -> VisibleBox:
        box = page.boxes[index]
        if box.kind == "Image":
            return self._show_image(number, page, index, content)
        text = self._set_texts.get((number, index)) if box.kind == "Text" else None
        return VisibleBox(
            number, page, index, box, content, text_area(box, text) if text else box_area(box), text
        )

    def _show_image(self, number: int, page: Page, index: int, content: str) -> VisibleBox:
        box, field = page.boxes[index], page.boxes[index].field or ""
        artwork = self.template.gallery.get(content)
        facts = None
        if artwork is not None and artwork.media_type in {"image/png", "image/jpeg"}:
            facts = facts_of(artwork.data, artwork.digest)
        elif artwork is None and field in self.job.images:
            facts = facts_of(self.job.images[field], (self.job.digests or {}).get(field))
        size = (
            (facts.width, facts.height) if facts else (artwork.width, artwork.height) if artwork else (0, 0)
        )
        return VisibleBox(number, page, index, box, content, picture_area(box, size), None, facts, artwork)
