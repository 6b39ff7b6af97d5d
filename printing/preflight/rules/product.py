"""Rules that compare the pages with the product."""

from collections.abc import Iterator

from printing.preflight.geometry import trim_area
from printing.preflight.rules.rule import Hit, hit_behind
from printing.preflight.sheet import Sheet

SHAPE_TOLERANCE = 0.02


def page_count_wrong(sheet: Sheet) -> Iterator[Hit]:
    product, pages = sheet.product, sheet.template.pages
    if product is not None and len(pages) != product.page_count:
        found, wanted = _pages(len(pages)), _pages(product.page_count)
        yield Hit(0, trim_area(pages[0]), "The template", found, wanted)


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def page_size_wrong(sheet: Sheet) -> Iterator[Hit]:
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
            yield Hit(
                number, trim_area(page), f"Page {number + 1}", found, f"{wanted[0]:g} x {wanted[1]:g} mm"
            )


def background_stretched(sheet: Sheet) -> Iterator[Hit]:
    """A PDF is measured here; the proportions of all other artwork are checked when the template is saved."""
    for one in sheet.backgrounds:
        if one.artwork.media_type != "application/pdf" or not one.facts.height:
            continue
        page = one.page
        wide, high = page.width + 2 * page.bleed, page.height + 2 * page.bleed
        if abs(one.facts.width / one.facts.height / (wide / high) - 1) > SHAPE_TOLERANCE:
            size = f"{one.facts.width * 25.4 / 72:.1f} x {one.facts.height * 25.4 / 72:.1f} mm"
            yield hit_behind(one, None, size, f"the shape of {wide:g} x {high:g} mm")
