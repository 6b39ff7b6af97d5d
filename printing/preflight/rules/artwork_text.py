"""Rules for the letters of PDF artwork, the same as for texts of boxes."""

from collections.abc import Iterator

from printing.preflight.artwork import ArtworkPart, Part
from printing.preflight.colours import contrast, is_reversed, rich_black, seen
from printing.preflight.geometry import MM_OF_POINT, SLACK_MM, Area, trim_area
from printing.preflight.rules.rule import Hit, hit_behind
from printing.preflight.sheet import Background, Sheet
from printing.typesetting.template import CMYK, RGB

# Findings of one kind on one page; more are omitted.
OF_A_KIND = 5


def _texts(sheet: Sheet) -> Iterator[tuple[Background, ArtworkPart, Area]]:
    """Each with its area on the page, of what the trim leaves at least in part."""
    for behind in sheet.backgrounds:
        for part in behind.facts.of_kind(Part.TEXT):
            area = behind.place(part.area)
            if behind.facts.page is not None and part.area and area.overlap(trim_area(behind.page)):
                yield behind, part, area


def _few(hits: Iterator[Hit]) -> Iterator[Hit]:
    counts: dict[int, int] = {}
    for hit in hits:
        counts[hit.number] = counts.get(hit.number, 0) + 1
        if counts[hit.number] <= OF_A_KIND:
            yield hit


def cut_off(sheet: Sheet) -> Iterator[Hit]:
    return _few(
        hit_behind(behind, part.area, f"{-inset:.1f} mm beyond the trim", "inside the trim")
        for behind, part, area in _texts(sheet)
        if (inset := min(area.insets(behind.page))) < -SLACK_MM
    )


def outside_safe_area(sheet: Sheet) -> Iterator[Hit]:
    safe = sheet.limits.safe_mm
    return _few(
        hit_behind(behind, part.area, f"{inset:.1f} mm from the trim", f"{safe:g} mm")
        for behind, part, area in _texts(sheet)
        if -SLACK_MM <= (inset := min(area.insets(behind.page))) < safe - SLACK_MM
    )


def small_reversed(sheet: Sheet) -> Iterator[Hit]:
    return _few(_small_reversed(sheet))


def _small_reversed(sheet: Sheet) -> Iterator[Hit]:
    limits = sheet.limits
    for behind, part, area in _texts(sheet):
        color, ground = color_of(part.color), sheet.ground_of(behind, area)
        points = part.size * behind.unit_mm / MM_OF_POINT
        if color is None or ground is None or not limits.text_pt <= points < limits.reversed_text_pt - 0.05:
            continue
        if is_reversed(color, ground):
            yield hit_behind(
                behind, part.area, f"{points:.1f} pt, light on dark", f"{limits.reversed_text_pt:g} pt"
            )


def rich(sheet: Sheet) -> Iterator[Hit]:
    return _few(_rich(sheet))


def _rich(sheet: Sheet) -> Iterator[Hit]:
    for behind, part, _ in _texts(sheet):
        color = color_of(part.color)
        points = part.size * behind.unit_mm / MM_OF_POINT
        if color is None or points >= sheet.limits.rich_text_pt:
            continue
        if words := rich_black(color, sheet.limits.policy):
            yield hit_behind(behind, part.area, f"{words} at {points:.1f} pt", "K only")


def contrast_low(sheet: Sheet) -> Iterator[Hit]:
    return _few(_contrast_low(sheet))


def _contrast_low(sheet: Sheet) -> Iterator[Hit]:
    least = sheet.limits.contrast
    for behind, part, area in _texts(sheet):
        color, ground = color_of(part.color), sheet.ground_of(behind, area)
        if color is not None and ground is not None and (found := contrast(seen(color), ground)) < least:
            yield hit_behind(behind, part.area, f"contrast {found:.1f} : 1", f"{least:g} : 1")


def color_of(values: tuple[float, ...]) -> RGB | CMYK | None:
    """A colour of a PDF as one of a template."""
    if len(values) == 4:
        cyan, magenta, yellow, black = (round(100 * value) for value in values)
        return CMYK(cyan, magenta, yellow, black)
    if len(values) == 1:
        return CMYK(0, 0, 0, round(100 * (1 - values[0])))
    if len(values) != 3:
        return None
    levels = (min(255, max(0, round(255 * value))) for value in values)
    return RGB("#" + "".join(f"{level:02x}" for level in levels))
