"""The ink of pages that blend or overprint, read from the plates of their print file.

What each part is painted with says nothing of it: parts that multiply add up, and faint ones print less.
"""

import io
from collections.abc import Collection
from dataclasses import dataclass, replace

from PIL import Image

from printing.caches import WeightedCache
from printing.preflight.geometry import Area
from printing.typesetting import (
    Press,
    RenderingBusy,
    RenderingFailed,
    Template,
    ValuesInvalid,
    proof_dpi,
    render_inks,
)

PPI = 100.0
# Less is a speck, such as the edge of a letter, and dries.
SPECK_MM2 = 0.25
FULL_PERCENT = 400.0
KEPT_PAGES = 2000


@dataclass(frozen=True, slots=True)
class PlateInk:
    """The highest total ink of a page in percent, and where it is; without an `area` where it is not too much."""

    percent: float
    area: Area | None


_read: WeightedCache[tuple[object, ...], PlateInk] = WeightedCache(capacity=KEPT_PAGES, weight=lambda _: 1)


def plate_inks(
    template: Template, numbers: Collection[int], press: Press, most: float
) -> dict[int, PlateInk]:
    """By page number; pages that cannot be drawn are omitted."""
    keys = {number: (_key(template, number, press), most) for number in numbers}
    found = {number: ink for number, key in keys.items() if (ink := _read.get(key)) is not None}
    wanted = [number for number in numbers if number not in found]
    for number, ink in _drawn(template, wanted, press, most).items():
        found[number] = ink
        _read.put(keys[number], ink)
    return found


def _key(template: Template, number: int, press: Press) -> tuple[object, ...]:
    page, rules = template.pages[number], press.rules
    background = template.artwork[page.background].digest if page.background else None
    colours = (rules.policy, rules.highest_ink, rules.keeps_overprint, str(press.profile))
    return background, page.width, page.height, page.bleed, rules.bleed_mm, *colours


def _drawn(template: Template, numbers: list[int], press: Press, most: float) -> dict[int, PlateInk]:
    if not numbers:
        return {}
    pages = tuple(replace(template.pages[number], boxes=()) for number in numbers)
    ppi = min(PPI, proof_dpi((page.width, page.height) for page in pages))
    try:
        pictures = render_inks(replace(template, pages=pages), press, ppi=ppi)
    except (RenderingFailed, RenderingBusy, ValuesInvalid):
        return {}
    return {
        number: _ink_of(Image.open(io.BytesIO(png)), ppi / 25.4, most)
        for number, png in zip(numbers, pictures, strict=True)
    }


def _ink_of(total: Image.Image, scale: float, most: float) -> PlateInk:
    """`total` is a grey picture, white where all inks are full."""
    speck, pixels = max(1.0, SPECK_MM2 * scale**2), total.histogram()
    level = next((level for level in range(255, 0, -1) if sum(pixels[level:]) >= speck), 0)
    percent = level / 255 * FULL_PERCENT
    box = total.point([255 if one / 255 * FULL_PERCENT > most + 1 else 0 for one in range(256)]).getbbox()
    if box is None or percent <= most + 1:
        return PlateInk(percent, None)
    left, top, right, bottom = (edge / scale for edge in box)
    return PlateInk(percent, Area(left, top, right - left, bottom - top))
