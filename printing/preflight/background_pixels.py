"""The colors of page backgrounds: each is rendered once at low resolution and cached."""

import io
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from time import monotonic

from PIL import Image, ImageChops, ImageDraw

from printing.area import Area
from printing.artwork.parts import ArtworkFacts
from printing.caches import WeightedCache
from printing.preflight.colors import ScreenColor
from printing.press.artwork import PreparedArtwork
from printing.typesetting import (
    Artwork,
    RenderingFailed,
    Template,
    ValuesInvalid,
    render_backgrounds,
)
from printing.typesetting.artwork import prepared_cache
from printing.typesetting.template import Page
from printing.waiting import own_time

# Small letters become shades at this scale, and a bleed is several pixels wide.
PIXELS_OF_MM = 2.0
PIXELS = 1200
CACHE_BYTES = 24_000_000
# The darkest part of a color from 0 to 255: paper is lighter, ink is darker than these.
PAPER, INK = 250, 238
_IS_INK = [255 if shade <= INK else 0 for shade in range(256)]
# For pages that are drawn alone, together: each may take as long as a rendering.
ALONE_SECONDS = 30.0
# Shorter runs of ink are ends of lines or patterns.
EDGE_MM = 5.0
# The color of an area with more pixels is the mean of so many samples along each side.
SAMPLED, SAMPLES = 5_000, 32

Pixels = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class BackgroundPixels:
    """A page with its bleed as an RGB picture of `scale` pixels for each millimetre."""

    picture: Image.Image
    scale: float
    bleed: float
    # Sides where ink reaches the trim but not the bleed, with the empty area of the bleed.
    unbled: tuple[tuple[str, Area], ...] = ()

    def copy(self) -> "BackgroundPixels":
        return replace(self, picture=self.picture.copy())

    def extrema(self) -> list[tuple[int, int]]:
        """The lowest and highest value of red, green and blue."""
        return [band.getextrema() for band in self.picture.split()]  # type: ignore[misc]

    def mean(self, area: Area) -> ScreenColor | None:
        """The mean color of an area; None outside of the picture."""
        box = self._cut_pixels(area)
        if box is None:
            return None
        picture, size = self.picture, (box[2] - box[0], box[3] - box[1])
        if size[0] * size[1] > SAMPLED:
            # A page may have thousands of letters as large as itself.
            picture, box = picture.resize((SAMPLES, SAMPLES), Image.Resampling.NEAREST, box), None
        red, green, blue = picture.resize((1, 1), Image.Resampling.BOX, box).getpixel((0, 0))  # type: ignore[misc]
        return float(red), float(green), float(blue)

    def fill(self, area: Area, color: ScreenColor) -> None:
        if (box := self._cut_pixels(area)) is not None:
            red, green, blue = (round(part) for part in color)
            ImageDraw.Draw(self.picture).rectangle(
                (box[0], box[1], box[2] - 1, box[3] - 1), (red, green, blue)
            )

    def paste(self, area: Area, picture: Image.Image) -> None:
        if (box := self._cut_pixels(area)) is not None:
            size = (box[2] - box[0], box[3] - box[1])
            self.picture.paste(picture.resize(size, Image.Resampling.BOX), box)

    def edge_without_bleed(self, page: Page) -> list[tuple[str, Area]]:
        outer = round(self.bleed * self.scale)
        if outer < 4:
            return []
        darkest = _find_darkest(self.picture)
        paper = darkest.point([255 if shade >= PAPER else 0 for shade in range(256)])
        ink = darkest.point(_IS_INK)
        return [
            (side, area)
            for side, inside, outside, area in self._find_edges(page, outer)
            if _longest_run(side, ink.crop(inside), paper.crop(outside)) >= EDGE_MM * self.scale
        ]

    def inked_edges(self, page: Page) -> set[str]:
        """The sides where ink reaches the trim for some length."""
        scale = self.scale
        left = top = round(self.bleed * scale)
        right, bottom = (round((self.bleed + side) * scale) for side in (page.width, page.height))
        rims = {
            "left": (left, top, left + 1, bottom),
            "top": (left, top, right, top + 1),
            "right": (right - 1, top, right, bottom),
            "bottom": (left, bottom - 1, right, bottom),
        }
        inks = {side: _find_darkest(self.picture.crop(rim)).point(_IS_INK) for side, rim in rims.items()}
        return {side for side, ink in inks.items() if _longest_run(side, ink) >= EDGE_MM * scale}

    def _find_edges(self, page: Page, outer: int) -> Iterable[tuple[str, Pixels, Pixels, Area]]:
        """Yields for each side a strip inside the trim, one in the bleed (away from blurred edges), and the bleed."""
        wide, high = self.picture.size
        inner, low, down = outer + 1 + max(1, round(self.scale)), high - outer, wide - outer
        bleed, width, height = self.bleed, page.width, page.height
        inside, outside = (outer + 1, outer, inner, low), (1, outer, outer - 1, low)
        yield "left", inside, outside, Area(-bleed, 0, bleed, height)
        inside, outside = (wide - inner, outer, down - 1, low), (down + 1, outer, wide - 1, low)
        yield "right", inside, outside, Area(width, 0, bleed, height)
        inside, outside = (outer, outer + 1, down, inner), (outer, 1, down, outer - 1)
        yield "top", inside, outside, Area(0, -bleed, width, bleed)
        inside, outside = (outer, high - inner, down, low - 1), (outer, low + 1, down, high - 1)
        yield "bottom", inside, outside, Area(0, height, width, bleed)

    def _cut_pixels(self, area: Area) -> Pixels | None:
        left, top = (area.x + self.bleed) * self.scale, (area.y + self.bleed) * self.scale
        right, bottom = left + area.width * self.scale, top + area.height * self.scale
        box = (max(0, int(left)), max(0, int(top)), min(self.picture.width, round(right)), 0)
        box = (*box[:3], min(self.picture.height, round(bottom)))
        return box if box[2] > box[0] and box[3] > box[1] else None


def _find_darkest(picture: Image.Image) -> Image.Image:
    red, green, blue = picture.split()
    return ImageChops.darker(ImageChops.darker(red, green), blue)


def _longest_run(side: str, *strips: Image.Image) -> int:
    """The most pixels in a row along an edge that are white across all strips."""
    lines = [
        strip.resize(
            (1, strip.height) if side in {"left", "right"} else (strip.width, 1), Image.Resampling.BOX
        )
        for strip in strips
    ]
    longest = run = 0
    for shades in zip(*(line.tobytes() for line in lines), strict=True):
        run = run + 1 if min(shades) > 250 else 0
        longest = max(longest, run)
    return longest


background_cache: WeightedCache[tuple[object, ...], BackgroundPixels] = WeightedCache(
    capacity=CACHE_BYTES, weight=lambda ground: 1000 + 3 * ground.picture.width * ground.picture.height
)


def background_pixels_of(
    template: Template, pages: Iterable[int], *, until: float = math.inf, is_strict: bool = False
) -> dict[int, BackgroundPixels]:
    """The backgrounds by page number. Pages whose background cannot be rendered are omitted.

    Raises RenderingBusy, and RenderingFailed if `is_strict` or after `until` by `own_time`.
    """
    pixels_by_page: dict[int, BackgroundPixels] = {}
    keys_to_draw: dict[int, tuple[object, ...]] = {}
    for number in pages:
        page = template.pages[number]
        ground = background_cache.get(key := _build_key(template, page))
        if ground is not None:
            pixels_by_page[number] = ground
        else:
            keys_to_draw[number] = key
    for number, picture in _Drawing(template, until, is_strict).draw_pages(keys_to_draw).items():
        page = template.pages[number]
        plain = BackgroundPixels(picture, _choose_scale(page), page.bleed)
        pixels_by_page[number] = replace(plain, unbled=tuple(plain.edge_without_bleed(page)))
        background_cache.put(keys_to_draw[number], pixels_by_page[number])
    return pixels_by_page


def without_letters(template: Template, lettered: Iterable[tuple[Artwork, ArtworkFacts]]) -> Template:
    """The template with PDFs that have no letters."""
    bare = dict(template.artwork)
    for artwork, facts in lettered:
        digest = f"{artwork.digest} without letters"
        bare[artwork.name] = replace(artwork, digest=digest, data=facts.bare, is_placed=False)
        if facts.page is not None:
            prepared_cache.put(digest, PreparedArtwork(facts.bare, (facts.page,)))
    return replace(template, digest=f"{template.digest} without letters", artwork=bare)


def _build_key(template: Template, page: Page) -> tuple[object, ...]:
    background = template.artwork[page.background].digest if page.background else None
    return background, page.width, page.height, page.bleed


def _choose_scale(page: Page) -> float:
    return min(PIXELS_OF_MM, PIXELS / (max(page.width, page.height) + 2 * page.bleed))


@dataclass(frozen=True, slots=True)
class _Drawing:
    template: Template
    until: float
    is_strict: bool

    def draw_pages(self, numbers: Iterable[int]) -> dict[int, Image.Image]:
        pictures: dict[int, Image.Image] = {}
        numbers_by_scale: dict[float, list[int]] = {}
        for number in numbers:
            page = self.template.pages[number]
            scale = _choose_scale(page)
            if page.background is None:
                size = (
                    round((page.width + 2 * page.bleed) * scale),
                    round((page.height + 2 * page.bleed) * scale),
                )
                pictures[number] = Image.new("RGB", size, "white")
            else:
                numbers_by_scale.setdefault(scale, []).append(number)
        for scale, alike_numbers in numbers_by_scale.items():
            pictures |= self._draw_together(alike_numbers, scale)
        return pictures

    def _draw_together(self, numbers: list[int], scale: float) -> dict[int, Image.Image]:
        """Draws pages together. If this fails, each is drawn alone while there is time, to omit only what fails."""
        selected = replace(self.template, pages=tuple(self.template.pages[number] for number in numbers))
        try:
            pngs = render_backgrounds(selected, ppi=scale * 25.4, seconds=self.until - own_time())
        except (RenderingFailed, ValuesInvalid) as error:
            if self.is_strict or own_time() >= self.until:
                if isinstance(error, RenderingFailed):
                    raise
                raise RenderingFailed(str(error)) from error
            return self._draw_alone(numbers, scale) if len(numbers) > 1 else {}
        return {
            number: Image.open(io.BytesIO(png)).convert("RGB")
            for number, png in zip(numbers, pngs, strict=True)
        }

    def _draw_alone(self, numbers: list[int], scale: float) -> dict[int, Image.Image]:
        pictures: dict[int, Image.Image] = {}
        end = monotonic() + ALONE_SECONDS
        for number in numbers:
            if monotonic() >= end:
                break
            pictures |= self._draw_together([number], scale)
        return pictures
