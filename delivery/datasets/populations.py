"""Counts of postal codes in memory, and their conversion to stored text, API body and totals."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.utils.translation import gettext_noop

# Both counts of a route in one integer, because a national set has 657,000 routes.
BASE = 100_000

Routes = dict[str, int]
Populations = dict[str, Routes]
Totals = dict[str, list[int]]

ROUTE_TYPE_NAMES = {
    "C": gettext_noop("city"),
    "R": gettext_noop("rural"),
    "H": gettext_noop("highway contract"),
    "B": gettext_noop("PO Box"),
    "G": gettext_noop("general delivery"),
}
SELECTABLE_TYPES = "CRHB"
# The first line of an exported file whose counts are invented.
SYNTHETIC_MARK = "# SYNTHETIC: the counts in this file are invented"


def pack(residential: int, business: int) -> int:
    return residential * BASE + business


def render_body(postal_code: str, routes: Mapping[str, int], types: str) -> tuple[str, int, int]:
    """The API's finished JSON of one postal code, with its residential and business sums."""
    records = []
    for route in sorted(routes):
        if route[0] in types:
            homes, firms = divmod(routes[route], BASE)
            records.append({"CarrierRouteID": route, **_encode_counts(homes, firms)})
    residential = sum(record["ResidentialCount"] for record in records)
    business = sum(record["BusinessCount"] for record in records)
    body = {"PostalCode": postal_code, **_encode_counts(residential, business), "Routes": records}
    return orjson.dumps(body).decode(), residential, business


def _encode_counts(residential: int, business: int) -> dict[str, Any]:
    return {
        "ResidentialCount": residential,
        "BusinessCount": business,
        "TotalCount": residential + business,
    }


def format_routes(routes: Mapping[str, int]) -> str:
    return ",".join(f"{route} {counts // BASE} {counts % BASE}" for route, counts in sorted(routes.items()))


def parse_routes(text: str) -> Iterator[tuple[str, int, int]]:
    for part in text.split(",") if text else ():
        route, residential, business = part.split(" ")
        yield route, int(residential), int(business)


def count_totals(populations: Populations) -> Totals:
    """Per route type: routes, residential, business."""
    totals: Totals = {}
    for routes in populations.values():
        for route, counts in routes.items():
            sums = totals.setdefault(route[0], [0, 0, 0])
            sums[0] += 1
            sums[1] += counts // BASE
            sums[2] += counts % BASE
    return totals


def sum_types(totals: Mapping[str, list[int]], types: str) -> tuple[int, int, int]:
    counts = [[0, 0, 0], *(totals[letter] for letter in types if letter in totals)]
    routes, residential, business = map(sum, zip(*counts, strict=True))
    return routes, residential, business
