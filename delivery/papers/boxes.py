"""The boxes that a drop's bundles go into, as plain data for papers.typ."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import Any

from delivery.papers.planning import Bundle, Drop, weight_of

GRAMS_PER_OUNCE, OUNCES_PER_POUND = Decimal("28.349523"), 16
# Priority Mail takes 70 pounds; one person lifts half of it. The sample, forms and box itself weigh two pounds.
HEAVIEST_POUNDS, EMPTY_POUNDS = Decimal(35), Decimal(2)
# Pieces whose weight is unknown are taken for unfolded ones of the heaviest usual board.
BOARD_GSM, MAX_PIECES = 400, 1_000
MM2_PER_M2 = 1_000_000


def boxes_of(
    drop: Drop, date: str, piece_weight_g: Decimal | None, size_mm: tuple[Decimal, Decimal]
) -> list[dict[str, Any]]:
    """The labels of a drop's boxes: whole routes, as many as a person can lift. Only a larger route has several."""
    boxes = _fill_boxes(drop.bundles, _most_pieces(piece_weight_g, size_mm))
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
            "weight": _weigh_box(pieces, piece_weight_g),
            "routes": [_route_record(tuple(group)) for _, group in groupby(box, attrgetter("route"))],
            "barcodes": [bundle.code for bundle in box],
        }
        for number, box in enumerate(boxes, 1)
    ]


def _most_pieces(piece_weight_g: Decimal | None, size_mm: tuple[Decimal, Decimal]) -> int:
    grams = (HEAVIEST_POUNDS - EMPTY_POUNDS) * OUNCES_PER_POUND * GRAMS_PER_OUNCE
    if piece_weight_g is not None:
        return int(grams / piece_weight_g)
    width, height = size_mm
    return min(MAX_PIECES, int(grams / (width * height / MM2_PER_M2 * BOARD_GSM)))


def _fill_boxes(bundles: Sequence[Bundle], max_pieces: int) -> list[list[Bundle]]:
    """The largest routes first, each into the box that it fills best."""
    routes = (tuple(group) for _, group in groupby(bundles, attrgetter("route")))
    loads = sorted(
        (load for route in routes for load in _split_route(route, max_pieces)), key=weight_of, reverse=True
    )
    boxes: list[list[Bundle]] = []
    rooms: list[tuple[int, int]] = []  # of each box, the fullest first
    for load in loads:
        weight = weight_of(load)
        position = bisect_left(rooms, (weight, 0))
        room, number = rooms.pop(position) if position < len(rooms) else (max_pieces, len(boxes))
        if number == len(boxes):
            boxes.append([])
        boxes[number] += load
        insort(rooms, (room - weight, number))
    return sorted((sorted(box, key=_place_of) for box in boxes), key=lambda box: _place_of(box[0]))


def _split_route(bundles: tuple[Bundle, ...], max_pieces: int) -> list[tuple[Bundle, ...]]:
    """A route, or as many of its bundles as fit into a box."""
    if weight_of(bundles) <= max_pieces:
        return [bundles]
    full = max(1, max_pieces // max(bundle.pieces for bundle in bundles))
    return [bundles[start : start + full] for start in range(0, len(bundles), full)]


def _place_of(bundle: Bundle) -> tuple[str, int]:
    return bundle.route.name, bundle.number


def _route_record(bundles: tuple[Bundle, ...]) -> dict[str, Any]:
    """A route in a box; `part` names the bundles where others of it are in another box."""
    first, last = bundles[0], bundles[-1]
    is_whole = len(bundles) == first.count
    return {
        "name": first.route.name,
        "bundles": len(bundles),
        "pieces": weight_of(bundles),
        "part": "" if is_whole else f"bundles {first.number} to {last.number} of {first.count}",
    }


def _weigh_box(pieces: int, piece_weight_g: Decimal | None) -> str:
    """Empty where the weight of a piece is unknown: the box must be weighed."""
    if piece_weight_g is None:
        return ""
    pounds = pieces * piece_weight_g / GRAMS_PER_OUNCE / OUNCES_PER_POUND + EMPTY_POUNDS
    return f"{pounds:.1f} lb"
