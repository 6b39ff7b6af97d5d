"""Rules that compare the pages with the product."""

from collections.abc import Iterator, Sequence

from printing.artwork.parts import Part
from printing.preflight.geometry import trim_area
from printing.preflight.rules.rule import ERROR, WARNING, RuleMatch, match_behind, rule
from printing.preflight.sheet import Background, CheckedSheet, die_lines_of

# How programs scale by mistake.
SCALES = (10, 25, 50, 75, 125, 150, 200, 300, 400)
SIMILAR_MM = 1.0
# The darkest shade of a blank page, from 0 to 255.
WHITE = 254


@rule(
    ERROR,
    "has a different number of pages than the product",
    "Add or remove pages, or correct the product's page count.",
)
def page_count_wrong(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    product, pages = sheet.product, sheet.template.pages
    if product is not None and len(pages) != product.page_count:
        found, wanted = _format_pages(len(pages)), _format_pages(product.page_count)
        yield RuleMatch(0, trim_area(pages[0]), "The template", found, wanted)


def _format_pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


@rule(
    ERROR,
    "does not have the product's size",
    "Give the page the product's trimmed size, or correct the product.",
)
def page_size_wrong(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """A page rotated by 90 degrees has the right size as well."""
    if sheet.product is None:
        return
    wanted = (sheet.product.width_mm, sheet.product.height_mm)
    for number, page in sheet.pages:
        differences = [
            max(abs(page.width - across), abs(page.height - down)) for across, down in (wanted, wanted[::-1])
        ]
        if min(differences) > sheet.limits.size_tolerance_mm:
            found = f"{page.width:g} x {page.height:g} mm"
            yield RuleMatch(
                number, trim_area(page), f"Page {number + 1}", found, f"{wanted[0]:g} x {wanted[1]:g} mm"
            )


@rule(
    ERROR,
    "has a different size, and the service never scales a PDF",
    "Export the PDF at the page's size with bleed, at 1:1.",
)
def artwork_size(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """A PDF is printed at its own size; other artwork has the proportions of its page, or the template is refused."""
    for background in sheet.backgrounds:
        if background.facts.page is None:
            continue
        wide, high, bleed = background.page.width, background.page.height, background.page.bleed
        across, down = background.facts.page.size
        fitting = ((wide, high), (wide + 2 * bleed, high + 2 * bleed))
        differences = [max(abs(across - width), abs(down - height)) for width, height in fitting]
        if min(differences) > sheet.limits.artwork_tolerance_mm:
            wanted = f"{wide:g} x {high:g} mm and {bleed:g} mm bleed"
            yield match_behind(background, None, _size_found((across, down), fitting), wanted)


def _size_found(size: tuple[float, float], fitting: Sequence[tuple[float, float]]) -> str:
    """The size in words, and its likely cause if there is one."""
    across, down = size
    words = f"{across:.1f} x {down:.1f} mm"
    for width, height in fitting:
        if max(abs(across - height), abs(down - width)) <= SIMILAR_MM:
            return f"{words}, which is turned by 90 degrees"
    for percent in SCALES:
        for width, height in fitting:
            if max(abs(across - width * percent / 100), abs(down - height * percent / 100)) <= SIMILAR_MM:
                return f"{words}, which is at {percent}% of the size"
    return words


def has_wrong_size(sheet: CheckedSheet, number: int) -> bool:
    return any(match.number == number for match in artwork_size.find(sheet))


@rule(
    ERROR,
    "has too few pages",
    "Send as many pages as the product has. Add blank pages to a booklet until their count is divisible by 4.",
)
def artwork_pages_missing(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    if missing := sheet.job.missing_pages:
        count = len(sheet.template.pages)
        first = trim_area(sheet.template.pages[count - missing])
        yield RuleMatch(
            count - missing, first, "The artwork", _format_pages(count - missing), _format_pages(count)
        )


@rule(WARNING, "has more pages than are printed", "Remove the extra pages, or name the first page to print.")
def artwork_pages_ignored(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    if ignored := sheet.job.ignored_pages:
        count = len(sheet.template.pages)
        last = trim_area(sheet.template.pages[-1])
        yield RuleMatch(count - 1, last, "The artwork", _format_pages(count + ignored), _format_pages(count))
    for background in sheet.backgrounds:
        if background.facts.page_count > 1:
            yield match_behind(
                background, None, _format_pages(background.facts.page_count), "one PDF page for each page"
            )


@rule(
    WARNING,
    "is blank",
    "Send the page that belongs there. If it is blank on purpose, there is nothing to do.",
)
def page_blank(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Varnish and white are plates that no picture shows."""
    drawn_numbers = {visible.number for visible in sheet.visible_boxes}
    count = len(sheet.template.pages) - sheet.job.missing_pages
    behind = {background.number: background for background in sheet.backgrounds}
    for number, page in sheet.pages:
        if number < count and number not in drawn_numbers and _is_blank(sheet, number, behind.get(number)):
            yield RuleMatch(
                number, trim_area(page), f"Page {number + 1}", "nothing to print", "something visible"
            )


def _is_blank(sheet: CheckedSheet, number: int, behind: Background | None) -> bool:
    if behind is not None and any(part.kind in {Part.TEXT, Part.SPOT} for part in behind.facts.parts):
        return False
    if has_wrong_size(sheet, number):
        return False
    pixels = sheet.background_pixels.get(number)
    return pixels is not None and min(low for low, _ in pixels.extrema()) >= WHITE


@rule(
    WARNING,
    "has no die line, so the cutting shape is unknown",
    "Draw the die line in a spot color with the name of the product's plate.",
)
def die_line_missing(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    """Checks a customer's PDF; any tool's plate will do, because programs name it in many ways."""
    wanted = sheet.job.die_lines
    if wanted and sheet.job.only is None and not die_lines_of(sheet.template, sheet.job.facts):
        first = trim_area(sheet.template.pages[0])
        yield RuleMatch(0, first, "The artwork", "no such plate", ", ".join(sorted(wanted)))


@rule(
    WARNING,
    "has annotations or form fields, which print as shown",
    "Remove what should not be printed, and flatten the PDF.",
)
def artwork_flattened(sheet: CheckedSheet) -> Iterator[RuleMatch]:
    for background in sheet.backgrounds:
        if (page := background.facts.page) is None:
            continue
        counts = {
            "annotation": page.annotations,
            "form field": page.fields,
            "annotation that has no look of its own, left out": page.dropped,
        }
        if words := [f"{count} x {name}" for name, count in counts.items() if count]:
            yield match_behind(background, None, ", ".join(words), "no annotations and form fields")
