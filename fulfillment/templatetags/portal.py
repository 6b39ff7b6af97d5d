from datetime import date
from textwrap import wrap
from typing import Any
from zlib import crc32

from django import template
from django.utils import formats, timezone

from fulfillment.core.text import method_name

register = template.Library()
register.filter(method_name)
# Drawn sheets have so many colors, room for a letter and for a line, and letters that stand so far down the line.
TONES, LETTER, LINE, BASELINE = 5, 7, 16, 12
# The whole drawing, and the sheet in it at most.
PLACES = {"tile": (320, 176, 200, 128), "list": (40, 40, 28, 28)}


@register.inclusion_tag("portal/sheet.html")
def sheet(
    name: str, width_mm: Any, height_mm: Any, pages: int, category: str, place: str = "tile"
) -> dict[str, Any]:
    """A product without a template: a sheet of its own proportions with its name, in the color of its category."""
    across, down, most, highest = PLACES[place]
    scale = min(most / float(width_mm), highest / float(height_mm))
    width, height = (max(round(float(side) * scale), 3) for side in (width_mm, height_mm))
    x, y, band = (across - width) // 2, (down - height) // 2, max(height // 5, 2)
    below = y + band
    return {
        "across": across,
        "down": down,
        "x": x,
        "y": y,
        "width": width,
        "height": height,
        "band": band,
        "middle": across // 2,
        # Behind the sheet is the next one.
        "offset": max(across // 100, 2) if pages > 1 else 0,
        "tone": crc32(category.encode()) % TONES,
        "is_small": place == "list",
        "lines": _place_lines(name, width, below, y + height) if place == "tile" else [],
    }


def _place_lines(name: str, width: int, top: int, bottom: int) -> list[tuple[int, str]]:
    """The name in the middle of what is below the band; none where it does not fit."""
    lines = wrap(name, max(width // LETTER, 1), break_long_words=False)
    free = bottom - top - len(lines) * LINE
    if free < 0 or max(map(len, lines), default=0) * LETTER > width:
        return []
    return [(top + free // 2 + BASELINE + LINE * number, line) for number, line in enumerate(lines)]


@register.filter
def wrong_fields(form: Any) -> list[Any]:
    return [form[name] for name in form.errors if name in form.fields]


@register.simple_tag
def date_range(first: date, last: date) -> str:
    """The days as text, such as "Nov 26", or "Nov 26" to "Dec 1"; with the year where it is another one."""
    shape = "MONTH_DAY_FORMAT" if last.year == timezone.localdate().year else "DATE_FORMAT"
    dates = [formats.date_format(day, shape) for day in (first, last)]
    return dates[0] if first == last else " \u2013 ".join(dates)


@register.filter
def with_commas(number: int) -> str:
    return formats.number_format(number, force_grouping=True)
