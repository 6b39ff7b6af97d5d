"""The Postal Service's requirements for an EDDM piece: size, indicia, simplified address. No database.

The boxes of kind EddmIndicia and EddmAddress are checked; artwork that carries them in a background is not seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from printing.typesetting.template import EDDM_ADDRESS, EDDM_INDICIA, Box, Page

INCH = 25.4
# A flat is longer or higher than a letter, and no larger than this; by thickness it may be one too, which is not known.
LETTER = (10.5, 6.125)
MAX_INCHES = (15.0, 12.0)
HEAVIEST_OZ, GRAMS_PER_OUNCE = Decimal("3.3"), Decimal("28.349523")
THINNEST, THICKEST = 0.007, 0.75
SMALLEST_INDICIA = 0.5
INDICIA_FROM_RIGHT, INDICIA_FROM_TOP = 1.625, 1.375
ADDRESS_FROM_EDGE = 0.125
SMALLEST_TYPE = 8.0
INDICIA_WORDS = ("PRSRT STD", "ECRWSS", "U.S. POSTAGE", "PAID", "EDDM RETAIL")
ADDRESSES = ("LOCAL POSTAL CUSTOMER", "POSTAL CUSTOMER", "LOCAL RESIDENTIAL CUSTOMER", "RESIDENTIAL CUSTOMER")
NAMES = {EDDM_INDICIA: "The indicia", EDDM_ADDRESS: "The simplified address"}


@dataclass(frozen=True, slots=True)
class EddmFinding:
    """`page` and `box` count from 0; None is the piece as a whole. With an error the product is not saved."""

    code: str
    found: str
    wanted: str
    message: str
    page: int | None = None
    box: int | None = None
    is_error: bool = True


def check_size(width_mm: Decimal | float, height_mm: Decimal | float) -> Iterator[EddmFinding]:
    length, height = sorted((_to_inches(width_mm), _to_inches(height_mm)), reverse=True)
    found = f"{length:.4g} by {height:.4g} in"
    if length > MAX_INCHES[0] or height > MAX_INCHES[1]:
        wanted = f"at most {MAX_INCHES[0]:g} by {MAX_INCHES[1]:g} in"
        yield EddmFinding(
            "eddm_too_large", found, wanted, f"The piece is {found}; a flat for EDDM is {wanted}."
        )
    elif length <= LETTER[0] and height <= LETTER[1]:
        wanted = f"longer than {LETTER[0]:g} in or higher than {LETTER[1]:g} in"
        yield EddmFinding(
            "eddm_too_small", found, wanted, f"The piece is {found}; a flat for EDDM is {wanted}."
        )


def check_piece(weight_g: Decimal | None, thickness_mm: Decimal | None) -> Iterator[tuple[str, str]]:
    """Limits of a flat for EDDM Retail, each with the member of the product that breaks it."""
    if weight_g is not None and weight_g > HEAVIEST_OZ * GRAMS_PER_OUNCE:
        found = weight_g / GRAMS_PER_OUNCE
        yield (
            "PieceWeightG",
            f"the piece weighs {found:.3f} oz; a piece for EDDM weighs {HEAVIEST_OZ} oz at most.",
        )
    if thickness_mm is not None and not THINNEST <= _to_inches(thickness_mm) <= THICKEST:
        yield (
            "ThicknessMM",
            f"the piece is {_to_inches(thickness_mm):g} in thick; a piece for EDDM is {THINNEST} to {THICKEST} in.",
        )


def _to_inches(millimetres: Decimal | float) -> float:
    return round(float(millimetres) / INCH, 3)


def check_presence(pages: Sequence[Page]) -> Iterator[EddmFinding]:
    """Artwork may carry what is missing, so that a template without it is saved nevertheless."""
    kinds = {box.role for page in pages for box in page.boxes}
    for kind, code in ((EDDM_INDICIA, "eddm_indicia_missing"), (EDDM_ADDRESS, "eddm_address_missing")):
        if kind not in kinds:
            message = f"No page has a box of kind {kind}."
            yield EddmFinding(code, "no page has it", f"a box of kind {kind}", message, is_error=False)


def check_pages(
    pages: Sequence[Page], sizes: Mapping[tuple[int, int], float] | None = None
) -> Iterator[EddmFinding]:
    """`sizes` are those of texts that were set, by page and box; else the smallest allowed one counts."""
    for number, page in enumerate(pages):
        for index, box in enumerate(page.boxes):
            if box.role == EDDM_INDICIA:
                yield from _check_indicia(page, box, number, index)
            elif box.role == EDDM_ADDRESS:
                set_size = (sizes or {}).get((number, index), min(box.size, box.minimum_size))
                yield from _check_address(page, box, set_size, number, index)


def _check_indicia(page: Page, box: Box, number: int, index: int) -> Iterator[EddmFinding]:
    if min(box.width, box.height) < SMALLEST_INDICIA * INCH:
        wanted = f"at least {SMALLEST_INDICIA:g} by {SMALLEST_INDICIA:g} in"
        found = f"{box.width / INCH:.3g} by {box.height / INCH:.3g} in"
        yield EddmFinding(
            "eddm_indicia_too_small", found, wanted, f"The indicia must be {wanted}.", number, index
        )
    text = _normalize_words(box)
    if missing_words := [words for words in INDICIA_WORDS if words not in text]:
        word_list = ", ".join(missing_words)
        message = f"The indicia lacks {word_list}."
        yield EddmFinding(
            "eddm_indicia_words", f"without {word_list}", ", ".join(INDICIA_WORDS), message, number, index
        )
    yield from _check_upright(box, number, index)
    right = page.width - box.x - box.width
    if right > INDICIA_FROM_RIGHT * INCH or box.y > INDICIA_FROM_TOP * INCH:
        found = f"{right / INCH:.3g} in from the right, {box.y / INCH:.3g} in from the top"
        wanted = f"at most {INDICIA_FROM_RIGHT:g} in from the right, {INDICIA_FROM_TOP:g} in from the top"
        message = (
            f"The indicia belongs in the upper right corner: at most {INDICIA_FROM_RIGHT:g} in from the right edge and "
            f"{INDICIA_FROM_TOP:g} in from the upper one."
        )
        yield EddmFinding("eddm_indicia_place", found, wanted, message, number, index, is_error=False)


def _check_address(page: Page, box: Box, set_size: float, number: int, index: int) -> Iterator[EddmFinding]:
    text = _normalize_words(box)
    if text not in ADDRESSES:
        wanted = f"one of {', '.join(address.title() for address in ADDRESSES)}"
        message = f"The simplified address must be {wanted}."
        yield EddmFinding("eddm_address_words", text.title()[:60], wanted, message, number, index)
    if set_size < SMALLEST_TYPE:
        message = f"The simplified address must have {SMALLEST_TYPE:g} points or more."
        found = f"{set_size:.1f} pt"
        yield EddmFinding("eddm_address_type", found, f"{SMALLEST_TYPE:g} pt", message, number, index)
    yield from _check_upright(box, number, index)
    nearest = min(box.x, box.y, page.width - box.x - box.width, page.height - box.y - box.height)
    if nearest < ADDRESS_FROM_EDGE * INCH:
        message = f"The simplified address must be at least {ADDRESS_FROM_EDGE:g} in from each edge."
        found, wanted = f"{nearest / INCH:.3g} in from the edge", f"{ADDRESS_FROM_EDGE:g} in"
        yield EddmFinding("eddm_address_edge", found, wanted, message, number, index)
    if box.y + box.height > page.height / 2:
        message = "The simplified address must be in the upper half of the page."
        found = f"down to {(box.y + box.height) / INCH:.3g} in from the top"
        wanted = f"at most {page.height / 2 / INCH:.3g} in"
        yield EddmFinding("eddm_address_place", found, wanted, message, number, index, is_error=False)


def _check_upright(box: Box, number: int, index: int) -> Iterator[EddmFinding]:
    if box.rotation % 360:
        message = f"{NAMES[box.role]} must not be rotated."
        yield EddmFinding("eddm_turned", f"turned by {box.rotation:g}°", "upright", message, number, index)


def _normalize_words(box: Box) -> str:
    return " ".join((box.text or "").upper().split())
