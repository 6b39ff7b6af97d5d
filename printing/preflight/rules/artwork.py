"""Rules for the artwork behind a page."""

import re
from collections.abc import Iterator
from functools import wraps

from printing.area import Area
from printing.artwork.parts import OPERATORS, ArtworkPart, Part
from printing.preflight.artwork_facts import artwork_facts
from printing.preflight.colors import contrast, ink_words, is_reversed, rgb_of, rich_black, total_ink
from printing.preflight.geometry import SLACK_MM, trim_area
from printing.preflight.rules.rule import (
    ERROR,
    ERROR_WHEN_CONVERTED,
    STRICT_WHEN_CONVERTED,
    WARNING,
    Find,
    RuleMatch,
    match_behind,
    match_of,
    rule,
)
from printing.preflight.sheet import Background, CheckedSheet, plates_of_boxes
from printing.typesetting.template import CMYK, RGB

# Findings of one kind on one page; more are omitted.
OF_A_KIND = 5
GENERIC = frozenset({"", "serif", "sans-serif", "monospace", "cursive", "fantasy", "system-ui"})
CONVERTIBLE = "colors that can be converted to inks"
INK = (Part.OVERPRINT, "ink that overprints", "ink that knocks out")
WHITE = (Part.WHITE_OVERPRINT, "white that overprints", "white that knocks out")
# Plates that cut, fold or coat print no color.
FINISHING = re.compile(
    r"cut|contour|crease|fold|perf|die|score|kiss|white|varnish|gloss|uv|foil|emboss", re.IGNORECASE
)


def _find_texts(sheet: CheckedSheet) -> Iterator[tuple[Background, ArtworkPart, Area]]:
    """Each with its area on the page, of what the trim leaves at least in part."""
    for behind, part in sheet.parts_behind(Part.TEXT):
        area = behind.place(part.area)
        if behind.facts.page is not None and part.area and area.overlap(trim_area(behind.page)):
            yield behind, part, area


def few(find: Find) -> Find:
    """Limits a rule to OF_A_KIND matches for each page."""

    @wraps(find)
    def wrapper(sheet: CheckedSheet) -> Iterator[RuleMatch]:
        counts: dict[int, int] = {}
        for match in find(sheet):
            counts[match.number] = counts.get(match.number, 0) + 1
            if counts[match.number] <= OF_A_KIND:
                yield match

    return wrapper


@few
def cut_off(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for behind, part, area in _find_texts(sheet):
        if (inset := min(area.insets(trim_area(behind.page)))) < -SLACK_MM:
            yield match_behind(behind, part.area, f"{-inset:.1f} mm beyond the trim", "inside the trim")


@few
def outside_safe_area(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    safe = sheet.limits.safe_mm
    for behind, part, area in _find_texts(sheet):
        if -SLACK_MM <= (inset := min(area.insets(trim_area(behind.page)))) < safe - SLACK_MM:
            yield match_behind(behind, part.area, f"{inset:.1f} mm from the trim", f"{safe:g} mm")


@few
def small_reversed(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    limits = sheet.limits
    for behind, part, area in _find_texts(sheet):
        color, points = color_of(part.color), behind.points(part)
        if color is None or not limits.text_pt <= points < limits.reversed_text_pt - 0.05:
            continue
        if (ground := sheet.ground_of(behind, area)) is not None and is_reversed(color, ground):
            yield match_behind(
                behind, part.area, f"{points:.1f} pt, light on dark", f"{limits.reversed_text_pt:g} pt"
            )


@few
def rich(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for behind, part, _ in _find_texts(sheet):
        color = color_of(part.color)
        points = behind.points(part)
        if color is None or points >= sheet.limits.rich_text_pt:
            continue
        if words := rich_black(color, sheet.limits.policy):
            yield match_behind(behind, part.area, f"{words} at {points:.1f} pt", "K only")


@few
def contrast_low(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    least = sheet.limits.contrast
    for behind, part, area in _find_texts(sheet):
        color, ground = color_of(part.color), sheet.ground_of(behind, area)
        if color is not None and ground is not None and (found := contrast(rgb_of(color), ground)) < least:
            yield match_behind(behind, part.area, f"contrast {found:.1f} : 1", f"{least:g} : 1")


def color_of(values: tuple[float, ...]) -> RGB | CMYK | None:
    """A color of a PDF as one of a template."""
    if len(values) == 4:
        cyan, magenta, yellow, black = (round(100 * value) for value in values)
        return CMYK(cyan, magenta, yellow, black)
    if len(values) == 1:
        return CMYK(0, 0, 0, round(100 * (1 - values[0])))
    if len(values) != 3:
        return None
    levels = (min(255, max(0, round(255 * value))) for value in values)
    return RGB("#" + "".join(f"{level:02x}" for level in levels))


def color_ink_too_much(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    most = sheet.limits.total_ink
    for visible in sheet.visible_boxes:
        for color in (visible.box.color if visible.box.kind != "Image" else None, visible.box.background):
            if isinstance(color, CMYK) and total_ink(color) > most:
                yield match_of(visible, f"{total_ink(color):.0f}% ({ink_words(color)})", f"{most:g}%")
                break


@rule(
    STRICT_WHEN_CONVERTED,
    "uses registration color, which prints on every plate",
    "Use process inks, such as C0 M0 Y0 K100 for black. Registration color is only for marks.",
)
def registration_color(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for behind, part in sheet.parts_behind(Part.REGISTRATION):
        yield match_behind(behind, part.area, "registration color inside the trim", "C, M, Y and K")


@rule(WARNING, "has a line too thin to print reliably", "Make the line thicker.")
@few
def hairline(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    least = sheet.limits.hairline_pt
    for behind, part in sheet.parts_behind(Part.LINE):
        if (points := behind.points(part)) < least - 0.005:
            yield match_behind(behind, part.area, f"{points:.2f} pt", f"{least:g} pt")


@rule(WARNING, "has letters too small to print well", "Make the letters larger in the artwork.")
@few
def artwork_text_too_small(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    least = sheet.limits.text_pt
    for behind, part in sheet.parts_behind(Part.TEXT):
        if 0 < (points := behind.points(part)) < least - 0.05:
            yield match_behind(behind, part.area, f"{points:.1f} pt", f"{least:g} pt")


@rule(
    WARNING,
    "uses a font that is not available, so another one replaces it",
    "Convert the letters to outlines, or use one of the service's fonts.",
)
def artwork_font_missing(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Letters of an SVG are set in the fonts of the service."""
    families = {face.family.casefold() for face in sheet.fonts.faces}
    for behind in sheet.backgrounds:
        if behind.artwork.media_type != "image/svg+xml":
            continue
        reported: set[str] = set()
        for part in behind.facts.of_kind(Part.TEXT):
            name = part.name.casefold()
            if name not in GENERIC and name not in families and name not in reported:
                reported.add(name)
                yield match_behind(behind, part.area, part.name, "one of the service's fonts")


@rule(
    ERROR,
    "does not embed one of its fonts",
    "Export the PDF with all fonts embedded, or with letters as outlines.",
)
def artwork_font_not_embedded(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for behind, part in sheet.parts_behind(Part.FONT):
        if not part.is_embedded:
            yield match_behind(behind, part.area, f"{part.name} not embedded", "every font embedded")


@rule(
    WARNING,
    "is too complex to be examined to its end",
    "Check the proof, and export very complex drawings as pictures.",
)
def artwork_unexamined(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    reads_inks = sheet.limits.severities.get("total_ink_high") != "Off"
    for behind in sheet.backgrounds:
        if _has_part(behind, Part.UNEXAMINED):
            yield match_behind(behind, None, f"more than {OPERATORS:,} drawing steps", "fewer drawing steps")
        if reads_inks and behind.mixes_inks(sheet.limits) and behind.number not in sheet.plate_inks:
            yield match_behind(behind, None, "total ink not read in time", "less that blends or overprints")


@rule(ERROR, "cannot be examined", "Export the PDF again, without a password.")
def artwork_unreadable(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for behind in sheet.backgrounds:
        if not behind.facts.is_readable:
            yield match_behind(behind, None, "a PDF that cannot be read", "an intact PDF without a password")


@rule(
    ERROR_WHEN_CONVERTED, "has colors that cannot be converted to the press's inks", "Export the PDF in CMYK."
)
def artwork_colors_left(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Everything else is converted, so that a file in inks holds nothing else."""
    for behind, part in sheet.parts_behind(Part.LEFT_IN_COLOR):
        yield match_behind(behind, None, part.name, CONVERTIBLE)
    for visible in sheet.visible_boxes:
        if visible.artwork is not None:
            for part in artwork_facts(visible.artwork).of_kind(Part.LEFT_IN_COLOR):
                yield match_of(visible, part.name, CONVERTIBLE)


@rule(
    WARNING,
    "combines transparency with spot colors, which presses blend in different ways",
    "Flatten the transparency, or convert the spot colors to process colors.",
)
def transparency_over_spot(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for behind in sheet.backgrounds:
        spots = sorted(part.name for part in behind.facts.of_kind(Part.SPOT))[:OF_A_KIND]
        if spots and _has_part(behind, Part.TRANSPARENCY):
            yield match_behind(behind, None, f"transparency over {', '.join(spots)}", "flat spot colors")


@rule(
    WARNING,
    "has white that overprints, so it disappears in print",
    "Turn off overprinting for white objects.",
)
def white_overprint(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    return _find_overprint(sheet, *WHITE, is_kept=True)


@rule(
    WARNING,
    "has overprinting ink, which prints as a knockout instead",
    "Check the proof. Where both inks should print, mix them in one color.",
)
def artwork_overprint_removed(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    yield from _find_overprint(sheet, *INK, is_kept=False)
    yield from _find_overprint(sheet, *WHITE, is_kept=False)


@rule(
    WARNING,
    "has overprinting ink, which the proof does not show",
    "Ask the printer for a proof of the plates.",
)
def overprint_not_shown(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    return _find_overprint(sheet, *INK, is_kept=True)


def _find_overprint(
    sheet: CheckedSheet, kind: Part, found: str, wanted: str, *, is_kept: bool
) -> Iterator[RuleMatch]:
    if sheet.limits.keeps_overprint == is_kept:
        for behind, part in sheet.parts_behind(kind):
            yield match_behind(behind, part.area, found, wanted)


@rule(
    WARNING,
    "has a spot color that prints only if it has its own plate",
    "Convert the spot color to process colors, unless the product has this plate.",
)
def artwork_plate_unexpected(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """A spot color that no box of the template has, and that no finishing has."""
    expected = {name.casefold() for name in plates_of_boxes(sheet.template)}
    for behind, part in sheet.parts_behind(Part.SPOT):
        if part.name.casefold() not in expected and not FINISHING.search(part.name):
            wanted = "C, M, Y, K and the plates of the product"
            yield match_behind(behind, part.area, f"a plate {part.name}", wanted)


def _has_part(behind: Background, kind: Part) -> bool:
    return any(True for _ in behind.facts.of_kind(kind))
