"""The copy of an EDDM selection that an order item stores. No database access."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from delivery.papers.planning import DropRoute
from delivery.selection.models import EddmSelection
from fulfillment.core.text import JsonObject

# Routes of all items of one order; each is stored with the order.
MAX_ROUTES = 20_000
CODES_SHOWN = 20
# The fields of a route in the copy.
ROUTE = ("postal_code", "carrier_route", "pieces", "facility_name")


@dataclass(frozen=True, slots=True)
class RequestedSelection:
    """The routes requested for an item.

    `selection` is the record of `selection_id`, if the caller may order it; else `problem` has a code and a message.
    A reprint has no selection but `stored`, the copy in the original order.
    """

    selection_id: str
    pieces: int = 0
    selection: EddmSelection | None = None
    stored: Mapping[str, Any] | None = None
    problem: tuple[str, str] | None = None

    @property
    def route_count(self) -> int:
        if self.selection is not None:
            return self.selection.route_count
        return len(self.stored["Routes"]) if self.stored else 0


def stored_record(selection: EddmSelection, routes: Iterable[Sequence[Any]]) -> JsonObject:
    """The stored copy, with `routes` as ROUTE: a newer data set or a deleted selection does not change the order."""
    return {
        "SelectionID": str(selection.pk),
        "Vintage": f"{selection.vintage:%Y-%m}",
        "IsSynthetic": selection.is_synthetic,
        "ResidentialOnly": selection.residential_only,
        "Routes": list(map(list, routes)),
    }


def reprinted_selection(stored: Mapping[str, Any] | None) -> RequestedSelection | None:
    if stored is None:
        return None
    pieces = sum(pieces for _, _, pieces, _ in stored["Routes"])
    return RequestedSelection(str(UUID(stored["SelectionID"])), pieces, stored=stored)


def drop_routes(stored: Mapping[str, Any]) -> Iterator[DropRoute]:
    for postal_code, carrier_route, pieces, office in stored["Routes"]:
        yield DropRoute(postal_code, carrier_route, office, pieces)


def shown_routes(stored: Mapping[str, Any]) -> Sequence[JsonObject]:
    """The routes as the API shows them."""
    return [
        {"PostalCode": postal_code, "CarrierRouteID": carrier_route, "Pieces": pieces}
        for postal_code, carrier_route, pieces, _ in stored["Routes"]
    ]


def summary_of(stored: Mapping[str, Any]) -> JsonObject:
    """The summary for pages: the first postal codes, and the number of all others."""
    pieces_by_code: dict[str, list[int]] = {}
    for route in drop_routes(stored):
        pieces_by_code.setdefault(route.postal_code, []).append(route.pieces)
    codes = [
        {"code": code, "routes": len(pieces), "pieces": sum(pieces)}
        for code, pieces in sorted(pieces_by_code.items())
    ]
    return {
        "vintage": stored["Vintage"],
        "is_synthetic": stored["IsSynthetic"],
        "is_residential_only": stored["ResidentialOnly"],
        "routes": len(stored["Routes"]),
        "codes": codes[:CODES_SHOWN],
        "more_codes": max(0, len(codes) - CODES_SHOWN),
    }
