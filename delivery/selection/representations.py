"""Selections as JSON and GeoJSON of the API, as CSV for a mail house, and on pages with a map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.http import HttpResponse

from delivery.datasets.populations import SYNTHETIC_MARK
from delivery.selection.models import ChosenRoute, EddmSelection, EddmSelectionRoute
from fulfillment.core.csv_rows import csv_pieces
from fulfillment.core.text import meta, timestamp

SELF = "img-src 'self' data:"
COLUMNS = (
    *("ZIP_CODE", "CRID_ID", "RES_CNT", "BUS_CNT", "TOT_CNT", "PIECES", "FACILITY_NAME"),
    *("MED_INCOME", "MED_AGE", "AVG_HH_SIZ"),
)


def selection_record(selection: EddmSelection) -> dict[str, Any]:
    return {
        "SelectionID": str(selection.pk),
        "Created": timestamp(selection.created),
        "ExpiresAt": timestamp(selection.expires),
        "Vintage": f"{selection.vintage:%Y-%m}",
        "ResidentialCount": selection.residential,
        "BusinessCount": selection.business,
        "TotalCount": selection.total,
        "Pieces": selection.pieces,
        "BoundingBox": selection.bounding_box,
    }


def route_record(route: EddmSelectionRoute | ChosenRoute) -> dict[str, Any]:
    return {
        "PostalCode": route.postal_code,
        "CarrierRouteID": route.carrier_route,
        "ResidentialCount": route.residential,
        "BusinessCount": route.business,
        "TotalCount": route.total,
        "Pieces": route.pieces,
        "MedianIncome": route.median_income,
        "MedianAge": route.median_age,
        "HouseholdSize": route.household_size,
        "FacilityName": route.facility_name,
    }


def selection_body(
    selection: EddmSelection,
    routes: Iterable[EddmSelectionRoute | ChosenRoute],
    messages: Sequence[str] = (),
) -> bytes:
    members = {"_meta": meta(*messages)} if messages else {}
    records = [route_record(route) for route in routes]
    return orjson.dumps({**selection_record(selection), "Routes": records, **members})


def geojson_body(
    selection: EddmSelection, routes: Sequence[EddmSelectionRoute], shapes: Sequence[str | None]
) -> bytes:
    """A feature for each route; `shapes` are their geometries as GeoJSON. Other members are those of the collection."""
    record = selection_record(selection)
    features = [
        {
            "type": "Feature",
            "id": route.code,
            "geometry": orjson.Fragment(shape) if shape else None,
            "properties": route_record(route),
        }
        for route, shape in zip(routes, shapes, strict=True)
    ]
    box = record.pop("BoundingBox")
    bounds = {"bbox": box} if box else {}
    return orjson.dumps(
        {
            "type": "FeatureCollection",
            **bounds,
            **record,
            "IsSynthetic": selection.is_synthetic,
            "features": features,
        }
    )


def selection_csv(selection: EddmSelection, routes: Iterable[EddmSelectionRoute]) -> Iterator[bytes]:
    """Invented counts say so in the first line, as in exports of data sets."""
    if selection.is_synthetic:
        yield f"{SYNTHETIC_MARK}\r\n".encode()
    rows = (
        (
            *(route.postal_code, route.carrier_route, route.residential, route.business, route.total),
            *(route.pieces, route.facility_name),
            *(route.median_income, route.median_age, route.household_size),
        )
        for route in routes
    )
    yield from csv_pieces(COLUMNS, rows)


def tiles_context() -> dict[str, Any]:
    return {"map_tiles": settings.EDDM_TILES_URL, "map_credit": settings.EDDM_TILES_CREDIT}


def allow_tiles(response: HttpResponse, policy: str) -> HttpResponse:
    """Pictures of the map come from the tile server of the setting, and from nowhere else."""
    if settings.EDDM_TILES_URL:
        parts = urlsplit(settings.EDDM_TILES_URL.replace("{s}.", "*."))
        server = f"{parts.scheme}://{parts.netloc}"
        response["Content-Security-Policy"] = policy.replace(SELF, f"{SELF} {server}")
    return response
