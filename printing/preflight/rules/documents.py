"""Rules for the pages of a customer's PDF on the pages of a product."""

from collections.abc import Iterator

from printing.preflight.geometry import trim_area
from printing.preflight.rules.rule import Hit
from printing.preflight.sheet import Sheet
from printing.typesetting.template import Page

# Between the bleeds in inches and in millimetres; less than any cutter is off.
BLEED_TOLERANCE_MM = 0.5


def artwork_size(sheet: Sheet) -> Iterator[Hit]:
    for number, page in sheet.pages:
        placement = sheet.placement(number)
        if placement is not None and placement.size is not None and not placement.has_size:
            wanted = f"{page.width:g} x {page.height:g} mm"
            if page.bleed:
                bled = f"{page.width + 2 * page.bleed:g} x {page.height + 2 * page.bleed:g} mm"
                wanted += f", or {bled} with the bleed"
            yield Hit(number, trim_area(page), f"Page {number + 1}", placement.size, wanted)


def bleed_missing(sheet: Sheet, number: int, page: Page) -> Iterator[Hit]:
    if lacks_bleed(sheet, number, page):
        placement = sheet.placement(number)
        found = f"{placement.bleed_mm if placement else 0:.1f} mm of bleed"
        yield Hit(number, trim_area(page), f"Page {number + 1}", found, f"{page.bleed:g} mm", is_error=True)


def lacks_bleed(sheet: Sheet, number: int, page: Page) -> bool:
    placement = sheet.placement(number)
    if placement is None or placement.bleed_mm is None:
        return False
    return placement.bleed_mm < page.bleed - BLEED_TOLERANCE_MM


def artwork_pages_missing(sheet: Sheet) -> Iterator[Hit]:
    present = sum(1 for one in sheet.job.placed if one.size is not None)
    if present < len(sheet.job.placed):
        first = trim_area(sheet.template.pages[present])
        yield Hit(present, first, "The artwork", _pages(present), _pages(len(sheet.job.placed)))


def artwork_pages_ignored(sheet: Sheet) -> Iterator[Hit]:
    if sheet.job.ignored_pages:
        count = len(sheet.job.placed)
        last = trim_area(sheet.template.pages[-1])
        yield Hit(count - 1, last, "The artwork", _pages(count + sheet.job.ignored_pages), _pages(count))


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"
