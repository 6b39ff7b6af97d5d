"""The Postal Service's rules for an EDDM piece: size, indicia, simplified address. No database.

The boxes of kind EddmIndicia and EddmAddress are checked; artwork that carries them in a background is not seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from stores.typesetting.template import EDDM_ADDRESS, EDDM_INDICIA

INCH = 25.4
# A flat is longer or higher than a letter, and no larger than this; by thickness it may be one too, which is not known.
LETTER = (10.5, 6.125)
LARGEST = (15.0, 12.0)
SMALLEST_INDICIA = 0.5
INDICIA_FROM_RIGHT, INDICIA_FROM_TOP = 1.625, 1.375
ADDRESS_FROM_EDGE = 0.125
SMALLEST_TYPE = 8.0
INDICIA_WORDS = ("PRSRT STD", "ECRWSS", "U.S. POSTAGE", "PAID", "EDDM RETAIL")
ADDRESSES = ("LOCAL POSTAL CUSTOMER", "POSTAL CUSTOMER", "LOCAL RESIDENTIAL CUSTOMER", "RESIDENTIAL CUSTOMER")


@dataclass(frozen=True, slots=True)
class EddmFinding:
    """`page` and `box` count from 0; None is the piece as a whole. With an error the product is not saved."""

    code: str
    message: str
    page: int | None = None
    box: int | None = None
    is_error: bool = True


def check_size(width_mm: Decimal, height_mm: Decimal) -> Iterator[EddmFinding]:
    length, height = sorted((_inches(width_mm), _inches(height_mm)), reverse=True)
    found = f"The piece is {length:.4g} by {height:.4g} in"
    if length > LARGEST[0] or height > LARGEST[1]:
        message = f"{found}; a flat for EDDM is at most {LARGEST[0]:g} by {LARGEST[1]:g} in."
        yield EddmFinding("eddm_too_large", message)
    elif length <= LETTER[0] and height <= LETTER[1]:
        message = f"{found}; a flat for EDDM is longer than {LETTER[0]:g} in or higher than {LETTER[1]:g} in."
        yield EddmFinding("eddm_too_small", message)


def _inches(millimetres: Decimal) -> float:
    return round(float(millimetres) / INCH, 3)


def check_pages(pages: Sequence[Mapping[str, Any]]) -> Iterator[EddmFinding]:
    """`pages` are those of a template's JSON that parse_template takes."""
    for number, page in enumerate(pages):
        for index, box in enumerate(page.get("Boxes") or ()):
            if box.get("Kind") == EDDM_INDICIA:
                yield from _check_indicia(page, box, number, index)
            elif box.get("Kind") == EDDM_ADDRESS:
                yield from _check_address(page, box, number, index)


def _check_indicia(
    page: Mapping[str, Any], box: Mapping[str, Any], number: int, index: int
) -> Iterator[EddmFinding]:
    if min(box["Width"], box["Height"]) < SMALLEST_INDICIA * INCH:
        message = f"The indicia is at least {SMALLEST_INDICIA:g} by {SMALLEST_INDICIA:g} in."
        yield EddmFinding("eddm_indicia_too_small", message, number, index)
    text = " ".join(str(box.get("Text", " ".join(INDICIA_WORDS))).upper().split())
    if missing := [words for words in INDICIA_WORDS if words not in text]:
        message = f"The indicia lacks {', '.join(missing)}."
        yield EddmFinding("eddm_indicia_words", message, number, index)
    yield from _check_upright(box, "indicia", number, index)
    right = page["WidthMM"] - box["X"] - box["Width"]
    if right > INDICIA_FROM_RIGHT * INCH or box["Y"] > INDICIA_FROM_TOP * INCH:
        message = (
            f"The indicia stands in the upper right corner: at most {INDICIA_FROM_RIGHT:g} in from the right edge and "
            f"{INDICIA_FROM_TOP:g} in from the upper one."
        )
        yield EddmFinding("eddm_indicia_place", message, number, index, is_error=False)


def _check_address(
    page: Mapping[str, Any], box: Mapping[str, Any], number: int, index: int
) -> Iterator[EddmFinding]:
    text = " ".join(str(box.get("Text", ADDRESSES[0])).upper().split())
    if text not in ADDRESSES:
        message = f"The simplified address is one of {', '.join(one.title() for one in ADDRESSES)}."
        yield EddmFinding("eddm_address_words", message, number, index)
    if min(box["Size"], box.get("MinimumSize", box["Size"])) < SMALLEST_TYPE:
        message = f"The simplified address is set in {SMALLEST_TYPE:g} points or more."
        yield EddmFinding("eddm_address_type", message, number, index)
    yield from _check_upright(box, "simplified address", number, index)
    left, top = box["X"], box["Y"]
    right, bottom = page["WidthMM"] - left - box["Width"], page["HeightMM"] - top - box["Height"]
    if min(left, top, right, bottom) < ADDRESS_FROM_EDGE * INCH:
        message = f"The simplified address stands at least {ADDRESS_FROM_EDGE:g} in from each edge."
        yield EddmFinding("eddm_address_edge", message, number, index)
    if top + box["Height"] > page["HeightMM"] / 2:
        message = "The simplified address stands in the upper half of the page."
        yield EddmFinding("eddm_address_place", message, number, index, is_error=False)


def _check_upright(box: Mapping[str, Any], what: str, number: int, index: int) -> Iterator[EddmFinding]:
    if box.get("Rotation", 0) % 360:
        yield EddmFinding("eddm_turned", f"The {what} is not turned.", number, index)
