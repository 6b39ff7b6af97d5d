"""Rules for positions: bleed, trim and safe area."""

from collections.abc import Iterator
from dataclasses import replace

from printing.area import Area
from printing.preflight.colors import is_white
from printing.preflight.findings import Severity
from printing.preflight.geometry import SIDES, SLACK_MM, box_area, trim_area
from printing.preflight.rules import artwork
from printing.preflight.rules.product import has_wrong_size
from printing.preflight.rules.rule import ERROR, WARNING, RuleMatch, match_behind, match_of, rule
from printing.preflight.sheet import Background, CheckedSheet, VisibleBox

# A box nearer to the trim than this is meant to touch it.
TOUCHING_MM = 0.3
# Bleeds of 3 mm and of an eighth of an inch are the same.
BLEED_SLACK_MM = 0.2


@rule(
    WARNING,
    "has ink at the trim but too little bleed, so a white edge may show after cutting",
    "Add bleed to the page, and extend backgrounds to its end.",
    of_pdf=Severity.ERROR,
)
def bleed_missing(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Ink reaches the trim of a page that has too little bleed, or none."""
    yield from _artwork_bleed_missing(sheet)
    wanted = sheet.limits.bleed_mm
    for number, page in sheet.pages:
        if page.bleed >= wanted - SLACK_MM:
            continue
        visible_here = [visible for visible in sheet.visible_boxes if visible.number == number]
        sides = {side for visible in visible_here for side in _touched_sides(visible)}
        sides.update(_inked_edges(sheet, number))
        if sides:
            words = ", ".join(side for side in SIDES if side in sides)
            yield RuleMatch(
                number, trim_area(page), f"Page {number + 1}", f"{page.bleed:g} mm, with ink at the {words}",
                f"{wanted:g} mm",
            )  # fmt: skip


def _artwork_bleed_missing(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Ink of a PDF reaches the trim, and the PDF has less bleed than the page."""
    for background in sheet.backgrounds:
        wanted = min(background.page.bleed, sheet.limits.bleed_mm)
        short = _short_sides(background, wanted)
        if not short or has_wrong_size(sheet, background.number):
            continue
        if sides := short.keys() & _inked_edges(sheet, background.number):
            words = ", ".join(side for side in SIDES if side in sides)
            bleed = max(min(short[side] for side in sides), 0)
            found = f"{bleed:.1f} mm, with ink at the {words}"
            yield replace(match_behind(background, None, found, f"{wanted:g} mm"), is_pdf=True)


def _short_sides(background: Background, wanted: float) -> dict[str, float]:
    """The sides where a PDF has less bleed, and how much it has there."""
    if background.facts.page is None:
        return {}
    bleeds = zip(SIDES, background.bleeds, strict=True)
    return {side: bleed for side, bleed in bleeds if bleed < wanted - BLEED_SLACK_MM}


def _inked_edges(sheet: CheckedSheet, number: int) -> set[str]:
    """The sides with much ink in all, or a run of it."""
    ground, page = sheet.background_pixels.get(number), sheet.template.pages[number]
    if ground is None or page.background is None:
        return set()
    rim = 0.5
    strips = (
        Area(0, 0, rim, page.height),
        Area(0, 0, page.width, rim),
        Area(page.width - rim, 0, rim, page.height),
        Area(0, page.height - rim, page.width, rim),
    )
    means = zip(SIDES, map(ground.mean, strips), strict=True)
    return ground.inked_edges(page).union(side for side, mean in means if mean and min(mean) < 235)


@rule(
    WARNING,
    "touches the trim but does not fill the bleed, so a white edge may show after cutting",
    "Extend the box to the end of the bleed, or move it inside the trim.",
)
def bleed_not_filled(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """A picture or background that touches the trim but does not fill the bleed."""
    for visible in sheet.visible_boxes:
        bleed = min(visible.page.bleed, sheet.limits.bleed_mm)
        if visible.page.bleed < sheet.limits.bleed_mm - SLACK_MM:
            continue
        area = _ink_area(visible)
        if area is None:
            continue
        reach = dict(zip(SIDES, (-inset for inset in area.insets(trim_area(visible.page))), strict=True))
        short = {side: reach[side] for side in _touched_sides(visible) if reach[side] < bleed - SLACK_MM}
        if short:
            found = ", ".join(f"{max(reached, 0):.1f} mm at the {side}" for side, reached in short.items())
            yield match_of(visible, found, f"{bleed:g} mm beyond the trim", area=area)


def _ink_area(visible: VisibleBox) -> Area | None:
    """The inked area of pictures and backgrounds. Text and codes have other rules."""
    if visible.box.background is not None and not is_white(visible.box.background):
        return box_area(visible.box)
    return visible.area if visible.box.kind == "Image" and _is_upright(visible) else None


def _is_upright(visible: VisibleBox) -> bool:
    return not visible.box.rotation % 90


def _touched_sides(visible: VisibleBox) -> list[str]:
    area = _ink_area(visible)
    if area is None or not area.overlap(trim_area(visible.page)):
        return []
    insets = area.insets(trim_area(visible.page))
    return [side for side, inset in zip(SIDES, insets, strict=True) if inset <= TOUCHING_MM]


@rule(
    WARNING,
    "ends at the trim, so a white edge may show after cutting",
    "Extend the artwork to the end of the bleed.",
)
def background_ends_at_trim(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for background in sheet.backgrounds:
        ground = sheet.background_pixels.get(background.number)
        short = _short_sides(background, min(background.page.bleed, sheet.limits.bleed_mm))
        if ground is None or background.page.bleed < sheet.limits.bleed_mm - SLACK_MM:
            continue
        if unbled := {side: area for side, area in ground.unbled if side not in short}:
            words = ", ".join(side for side in SIDES if side in unbled)
            area = next(iter(unbled.values())) if len(unbled) == 1 else trim_area(background.page)
            found, expected = f"paper in the bleed at the {words}", f"ink to {background.page.bleed:g} mm"
            yield RuleMatch(background.number, area, "The background", found, expected)


@rule(ERROR, "is outside the page and will not print", "Move the box onto the page, or remove it.")
def box_off_page(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for visible in sheet.visible_boxes:
        if not visible.area.overlap(trim_area(visible.page)):
            yield match_of(visible, "outside the page", "on the page")


@rule(
    WARNING,
    "extends past the trim and will be cut off",
    "Move the text inside, make it smaller or shorten it.",
)
def text_cut_off(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Letters of a text reach over the trim."""
    for visible, _ in sheet.texts:
        insets = visible.area.insets(trim_area(visible.page))
        if min(insets) < -SLACK_MM and visible.area.overlap(trim_area(visible.page)):
            yield match_of(visible, f"{-min(insets):.1f} mm beyond the trim", "inside the trim")
    yield from artwork.cut_off(sheet)


@rule(WARNING, "is too close to the trim and may be cut", "Move the text further inside, or shorten it.")
def text_outside_safe_area(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for visible, _ in sheet.texts:
        inset = min(visible.area.insets(trim_area(visible.page)))
        if -SLACK_MM <= inset < sheet.limits.safe_mm - SLACK_MM:
            yield match_of(visible, f"{inset:.1f} mm from the trim", f"{sheet.limits.safe_mm:g} mm")
    yield from artwork.outside_safe_area(sheet)


@rule(
    WARNING,
    "is too close to the trim and may be cut",
    "Move the box further inside, or extend a picture to the end of the bleed.",
)
def box_outside_safe_area(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Codes, and pictures that are not meant to reach the trim."""
    for visible in sheet.visible_boxes:
        if visible.box.kind == "Text" or not visible.area.overlap(trim_area(visible.page)):
            continue
        inset = min(visible.area.insets(trim_area(visible.page)))
        is_code = visible.box.kind != "Image"
        if (is_code or inset > TOUCHING_MM) and inset < sheet.limits.safe_mm - SLACK_MM:
            yield match_of(visible, f"{inset:.1f} mm from the trim", f"{sheet.limits.safe_mm:g} mm")


@rule(WARNING, "overlaps other text", "Move one of the texts, or shorten it.")
def texts_overlap(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Texts that overlap. The space above and below their letters may overlap."""
    texts = [
        (visible, _cut_to_letters(visible, text.size))
        for visible, text in sheet.texts
        if _is_upright(visible)
    ]
    for position, (visible, area) in enumerate(texts):
        for other, below in texts[:position]:
            if other.number == visible.number and area.overlap(below) > 0.15 * min(area.size, below.size):
                yield match_of(visible, f"over {other.title}", "apart")
                break


def _cut_to_letters(visible: VisibleBox, size: float) -> Area:
    """The area without the space for accents and descenders; unchanged for rotated text."""
    if visible.box.rotation % 180:
        return visible.area
    room = min(0.2 * size * 25.4 / 72, visible.area.height / 3)
    return replace(visible.area, y=visible.area.y + room, height=visible.area.height - 2 * room)
