"""Boxes of a drop for entry by Priority Mail at an office that is far (Domestic Mail Manual 146.1.2). No database."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from delivery.papers.planning import Bundle, Drop

GRAMS_PER_OUNCE, OUNCES_PER_POUND = Decimal("28.349523"), 16
# Priority Mail takes 70 pounds; one person lifts half of it. The sample, forms and box itself weigh two pounds.
HEAVIEST_POUNDS, EMPTY_POUNDS = Decimal(35), Decimal(2)
# Pieces whose weight is unknown are taken for unfolded ones of the heaviest usual board.
BOARD_GSM, MAX_PIECES = 400, 1_000
MM2_PER_M2 = 1_000_000


def boxes_of(
    drop: Drop, date: str, piece_weight_g: Decimal | None, size_mm: tuple[Decimal, Decimal]
) -> list[dict[str, Any]]:
    """The labels of a drop's boxes: whole bundles in their order, as many as a person can lift."""
    boxes = _filled(drop.bundles, _most_pieces(piece_weight_g, size_mm))
    return [
        {
            "office": drop.entry_office,
            "codes": list(dict.fromkeys(bundle.route.postal_code for bundle in box)),
            "day": drop.day,
            "date": date,
            "number": number,
            "count": len(boxes),
            "bundles": len(box),
            "pieces": (pieces := sum(bundle.pieces for bundle in box)),
            "weight": _pounds(pieces, piece_weight_g),
            "first": box[0].route.name,
            "last": box[-1].route.name,
        }
        for number, box in enumerate(boxes, 1)
    ]


def _most_pieces(piece_weight_g: Decimal | None, size_mm: tuple[Decimal, Decimal]) -> int:
    grams = (HEAVIEST_POUNDS - EMPTY_POUNDS) * OUNCES_PER_POUND * GRAMS_PER_OUNCE
    if piece_weight_g is not None:
        return int(grams / piece_weight_g)
    width, height = size_mm
    return min(MAX_PIECES, int(grams / (width * height / MM2_PER_M2 * BOARD_GSM)))


def _filled(bundles: Sequence[Bundle], most: int) -> list[list[Bundle]]:
    boxes: list[list[Bundle]] = [[]]
    weight = 0
    for bundle in bundles:
        if boxes[-1] and weight + bundle.pieces > most:
            boxes.append([])
            weight = 0
        boxes[-1].append(bundle)
        weight += bundle.pieces
    return boxes


def _pounds(pieces: int, piece_weight_g: Decimal | None) -> str:
    """Empty where the weight of a piece is unknown: the box must be weighed."""
    if piece_weight_g is None:
        return ""
    pounds = pieces * piece_weight_g / GRAMS_PER_OUNCE / OUNCES_PER_POUND + EMPTY_POUNDS
    return f"{pounds:.1f} lb"
