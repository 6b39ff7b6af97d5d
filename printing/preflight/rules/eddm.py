"""Pieces of products for EDDM, by the rules of `preflight.eddm`; other products have none of these findings."""

from collections.abc import Iterator
from itertools import chain

from printing.preflight.eddm import NAMES, EddmFinding, check_pages, check_presence, check_size
from printing.preflight.geometry import box_area, trim_area
from printing.preflight.rules.rule import ERROR, WARNING, Find, Rule, RuleMatch, Severities
from printing.preflight.sheet import CheckedSheet

_WHOLE = {"eddm_indicia_missing": "The indicia", "eddm_address_missing": "The simplified address"}


def _make_finder(code: str) -> Find:
    def find(sheet: CheckedSheet) -> Iterator[RuleMatch]:
        if sheet.product is not None and sheet.product.is_eddm:
            yield from (
                _match_finding(sheet, finding) for finding in _list_findings(sheet) if finding.code == code
            )

    return find


def _list_findings(sheet: CheckedSheet) -> Iterator[EddmFinding]:
    """Findings of the checked pages; those of the whole piece are on its first page."""
    pages, product = sheet.template.pages, sheet.product
    numbers = {number for number, _ in sheet.pages}
    sizes = {(text.page, text.box): text.size for text in sheet.job.texts}
    of_size = check_size(product.width_mm, product.height_mm) if product else ()
    findings = chain(of_size, check_presence(pages), check_pages(pages, sizes))
    return (finding for finding in findings if (finding.page or 0) in numbers)


def _match_finding(sheet: CheckedSheet, finding: EddmFinding) -> RuleMatch:
    number, values = finding.page or 0, (finding.found, finding.wanted)
    page = sheet.template.pages[number]
    if finding.box is None:
        return RuleMatch(0, trim_area(page), _WHOLE.get(finding.code, "The piece"), *values)
    box = page.boxes[finding.box]
    return RuleMatch(number, box_area(box), NAMES[box.role], *values, finding.box)


def _make_rule(code: str, severities: Severities, message: str, remedy: str) -> Rule:
    return Rule(code, severities, message, remedy, _make_finder(code))


RULES = (
    _make_rule(
        "eddm_too_small",
        ERROR,
        "is too small, because EDDM accepts only flats",
        "Choose a larger product.",
    ),
    _make_rule(
        "eddm_too_large",
        ERROR,
        "is too large for EDDM",
        "Choose a smaller product.",
    ),
    _make_rule(
        "eddm_indicia_missing",
        WARNING,
        "is missing, and the post office refuses pieces without postage",
        "Add a box of kind EddmIndicia, unless the artwork has the indicia.",
    ),
    _make_rule(
        "eddm_indicia_too_small",
        ERROR,
        "is smaller than the Postal Service allows",
        "Enlarge the box.",
    ),
    _make_rule(
        "eddm_indicia_words",
        ERROR,
        "lacks required words",
        "Remove Text from the box. The box then has the usual words.",
    ),
    _make_rule(
        "eddm_indicia_place",
        WARNING,
        "is not in the upper right corner of the address side",
        "Move the box to the upper right corner.",
    ),
    _make_rule(
        "eddm_address_missing",
        WARNING,
        "is missing, and carriers do not deliver pieces without it",
        "Add a box of kind EddmAddress, unless the artwork has the address.",
    ),
    _make_rule(
        "eddm_address_words",
        ERROR,
        "is not an accepted simplified address",
        "Remove Text from the box. The box then has the usual words.",
    ),
    _make_rule(
        "eddm_address_type",
        ERROR,
        "has letters smaller than the Postal Service allows",
        "Make the address larger, or enlarge its box.",
    ),
    _make_rule(
        "eddm_address_edge",
        ERROR,
        "is too close to the edge",
        "Move the box further inside.",
    ),
    _make_rule(
        "eddm_address_place",
        WARNING,
        "is not in the upper half of the page",
        "Move the box up.",
    ),
    _make_rule(
        "eddm_turned",
        ERROR,
        "is rotated and must be upright",
        "Set the rotation of the box to 0.",
    ),
)
