"""Rules that compare the pages with the product."""

from collections.abc import Iterator

from printing.preflight.geometry import trim_area
from printing.preflight.rules.rule import Hit, hit_behind
from printing.preflight.sheet import Sheet


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


def artwork_size(sheet: Sheet) -> Iterator[Hit]:
    """A PDF is printed at its own size; other artwork has the proportions of its page, or the template is refused."""
    for one in sheet.backgrounds:
        if one.facts.page is None:
            continue
        wide, high, bleed = one.page.width, one.page.height, one.page.bleed
        across, down = one.facts.page.size
        fitting = ((wide, high), (wide + 2 * bleed, high + 2 * bleed))
        differences = [max(abs(across - width), abs(down - height)) for width, height in fitting]
        if min(differences) > sheet.limits.artwork_tolerance_mm:
            wanted = f"{wide:g} x {high:g} mm and {bleed:g} mm bleed"
            yield hit_behind(one, None, f"{across:.1f} x {down:.1f} mm", wanted)


def has_wrong_size(sheet: Sheet, number: int) -> bool:
    return any(hit.number == number for hit in artwork_size(sheet))


def artwork_pages_missing(sheet: Sheet) -> Iterator[Hit]:
    if missing := sheet.job.missing_pages:
        count = len(sheet.template.pages)
        first = trim_area(sheet.template.pages[count - missing])
        yield Hit(count - missing, first, "The artwork", _pages(count - missing), _pages(count))


def artwork_pages_ignored(sheet: Sheet) -> Iterator[Hit]:
    if ignored := sheet.job.ignored_pages:
        count = len(sheet.template.pages)
        last = trim_area(sheet.template.pages[-1])
        yield Hit(count - 1, last, "The artwork", _pages(count + ignored), _pages(count))
    for one in sheet.backgrounds:
        if one.facts.page_count > 1:
            yield hit_behind(one, None, _pages(one.facts.page_count), "a PDF of 1 page for each page")


def artwork_flattened(sheet: Sheet) -> Iterator[Hit]:
    for one in sheet.backgrounds:
        if (page := one.facts.page) is None:
            continue
        counts = {
            "annotation": page.annotations,
            "form field": page.fields,
            "annotation that has no look of its own, left out": page.dropped,
        }
        if words := [f"{count} x {name}" for name, count in counts.items() if count]:
            yield hit_behind(one, None, ", ".join(words), "no annotations and form fields")
