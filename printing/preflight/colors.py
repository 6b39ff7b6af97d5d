"""Colors on screen and in print: contrast and total ink."""

import io
import math
from collections.abc import Collection
from dataclasses import dataclass, replace

from PIL import Image

from printing.area import Area
from printing.caches import WeightedCache
from printing.press.rules import ColorPolicy
from printing.typesetting import (
    Press,
    RenderingFailed,
    Template,
    ValuesInvalid,
    proof_dpi,
    render_inks,
)
from printing.typesetting.template import CMYK, RGB
from printing.waiting import own_time

ScreenColor = tuple[float, float, float]
# Brighter colors of a screen are no black, and those of equal parts are gray.
BLACK_LEVEL, GRAY_LEVELS = 72, 8
# A ground of at most this luminance is dark, and letters are light that much above it.
DARK, LIGHTER = 0.35, 0.2
# The ink of pages that blend or overprint, read from the plates of their print file.
#
# What each part is painted with says nothing of it: parts that multiply add up, and faint ones print less.
PPI = 100.0
# Less is a speck, such as the edge of a letter, and dries.
SPECK_MM2 = 0.25
FULL_PERCENT = 400.0
KEPT_PAGES = 2000


def rgb_of(color: RGB | CMYK) -> ScreenColor:
    """The approximate sRGB color, to compare light with dark."""
    if isinstance(color, RGB):
        return tuple(float(int(color.code[at : at + 2], 16)) for at in (1, 3, 5))  # type: ignore[return-value]
    light = 1 - color.black / 100
    parts = (255 * (1 - ink / 100) * light for ink in (color.cyan, color.magenta, color.yellow))
    return tuple(parts)  # type: ignore[return-value]  # of three


def luminance(color: ScreenColor) -> float:
    """Relative luminance from 0 (black) to 1 (white), as WCAG defines it."""
    parts = [part / 255 for part in color]
    red, green, blue = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(color: ScreenColor, ground: ScreenColor) -> float:
    """The contrast, from 1 (the same) to 21 (black on white)."""
    low, high = sorted((luminance(color), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


def total_ink(color: CMYK) -> float:
    """Total ink in percent; a spot color counts as one ink."""
    if color.spot:
        return 100.0
    return color.cyan + color.magenta + color.yellow + color.black


def is_white(color: RGB | CMYK) -> bool:
    return min(rgb_of(color)) >= 250


def rich_black(color: RGB | CMYK, policy: ColorPolicy) -> str:
    """Words for a black that prints with at least two other inks, which need exact register; else empty.

    Grays of a screen are printed with black alone, but by a RIP that converts managed colors.
    """
    if isinstance(color, RGB):
        levels = rgb_of(color)
        is_black = max(levels) < BLACK_LEVEL and max(levels) - min(levels) < GRAY_LEVELS
        is_gray = max(levels) == min(levels) and policy == ColorPolicy.CMYK
        return f"RGB {color.code}" if is_black and not is_gray else ""
    inks = (color.cyan, color.magenta, color.yellow)
    is_rich = not color.spot and color.black >= 50 and sum(ink >= 10 for ink in inks) >= 2
    return ink_words(color) if is_rich else ""


def is_reversed(color: RGB | CMYK, ground: ScreenColor) -> bool:
    """Whether letters are light on a dark ground, whose ink fills them."""
    return luminance(ground) < DARK and luminance(rgb_of(color)) > luminance(ground) + LIGHTER


def ink_words(color: CMYK) -> str:
    return f"C{color.cyan:g} M{color.magenta:g} Y{color.yellow:g} K{color.black:g}"


@dataclass(frozen=True, slots=True)
class PlateInk:
    """The highest total ink of a page in percent, and where it is; without an `area` where it is not too much."""

    percent: float
    area: Area | None


_ink_cache: WeightedCache[tuple[object, ...], PlateInk] = WeightedCache(
    capacity=KEPT_PAGES, weight=lambda _: 1
)


def plate_inks(
    template: Template,
    numbers: Collection[int],
    press: Press,
    limit: float,
    until: float = math.inf,
) -> dict[int, PlateInk]:
    """The ink by page number; pages not drawn `until` then by `own_time` are omitted. Raises RenderingBusy."""
    keys = {number: (_build_key(template, number, press), limit) for number in numbers}
    ink_by_page = {number: ink for number, key in keys.items() if (ink := _ink_cache.get(key)) is not None}
    unread = [number for number in numbers if number not in ink_by_page]
    for number, ink in _measure_inks(template, unread, press, limit, until).items():
        ink_by_page[number] = ink
        _ink_cache.put(keys[number], ink)
    return ink_by_page


def _build_key(template: Template, number: int, press: Press) -> tuple[object, ...]:
    page, rules = template.pages[number], press.rules
    background = template.artwork[page.background].digest if page.background else None
    colors = (rules.policy, rules.highest_ink, rules.keeps_overprint, str(press.profile))
    return background, page.width, page.height, page.bleed, rules.bleed_mm, *colors


def _measure_inks(
    template: Template, numbers: list[int], press: Press, limit: float, until: float
) -> dict[int, PlateInk]:
    if not numbers:
        return {}
    pages = tuple(replace(template.pages[number], boxes=()) for number in numbers)
    ppi = min(PPI, proof_dpi((page.width, page.height) for page in pages))
    try:
        pictures = render_inks(replace(template, pages=pages), press, ppi=ppi, seconds=until - own_time())
    except (RenderingFailed, ValuesInvalid):
        return {}
    return {
        number: _ink_of(Image.open(io.BytesIO(png)), ppi / 25.4, limit)
        for number, png in zip(numbers, pictures, strict=True)
    }


def _ink_of(total: Image.Image, scale: float, limit: float) -> PlateInk:
    """`total` is a gray picture, white where all inks are full."""
    speck, pixels = max(1.0, SPECK_MM2 * scale**2), total.histogram()
    level = next((level for level in range(255, 0, -1) if sum(pixels[level:]) >= speck), 0)
    percent = level / 255 * FULL_PERCENT
    marks = [255 if shade / 255 * FULL_PERCENT > limit + 1 else 0 for shade in range(256)]
    box = total.point(marks).getbbox()
    if box is None or percent <= limit + 1:
        return PlateInk(percent, None)
    left, top, right, bottom = (edge / scale for edge in box)
    return PlateInk(percent, Area(left, top, right - left, bottom - top))
