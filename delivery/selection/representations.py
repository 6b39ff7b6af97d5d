"""API bodies of selections: JSON and GeoJSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.selectors.candidates import Candidates
from delivery.selection.services.choosing import ChosenRoute
from fulfillment.core.api.serializers import timestamp
from fulfillment.core.deferred import DeferredModule

if TYPE_CHECKING:
    import numpy as np
    import shapely
else:
    np, shapely = DeferredModule("numpy"), DeferredModule("shapely")


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


def selection_body(selection: EddmSelection, routes: Iterable[EddmSelectionRoute | ChosenRoute]) -> bytes:
    return orjson.dumps({**selection_record(selection), "Routes": [route_record(route) for route in routes]})


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


def drawn_routes(found: Candidates, shapes: np.ndarray) -> bytes:
    """GeoJSON for the map's script: name, counts and demographics of each route with a shape."""
    where = [at for at, shape in enumerate(shapes) if shape is not None]
    texts = shapely.to_geojson(shapes[where]) if where else []
    routes = [
        {
            "code": found.postal_codes[at] + found.routes[at],
            "homes": int(found.residential[at]),
            "firms": int(found.business[at]),
            "income": facts.income,
            "age": facts.age,
            "household": facts.household,
            "shape": orjson.Fragment(text),
        }
        for at, facts, text in zip(where, found.facts(where), texts, strict=True)
    ]
    return orjson.dumps({"routes": routes})
