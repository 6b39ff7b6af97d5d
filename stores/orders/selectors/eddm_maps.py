"""Where the routes of an order item are, for a map."""

from typing import Any

import orjson

from delivery.datasets.selectors.datasets import live_dataset
from delivery.selection.models import EddmSelection
from delivery.selection.selectors.selections import shapes_by_code
from stores.orders.eddm import drop_routes
from stores.orders.models import OrderItem


def routes_on_map(item: OrderItem) -> bytes:
    """The routes that were ordered as GeoJSON: of the data set they were chosen from, else of the active one.

    The shape of one that is in neither is null; the pieces are those of the order.
    """
    kept: dict[str, Any] = item.eddm or {}
    routes = {route.postal_code + route.carrier_route: route for route in drop_routes(kept)}
    chosen_from = EddmSelection.objects.filter(pk=kept["SelectionID"]).values_list("dataset", flat=True)
    live = live_dataset()
    shapes: dict[str, str] = {}
    for dataset_id in dict.fromkeys([*chosen_from, *([live.pk] if live else [])]):
        missing = routes.keys() - shapes.keys()
        if missing:
            shapes |= shapes_by_code(dataset_id, missing)
    features = [
        {
            "type": "Feature",
            "id": code,
            "geometry": orjson.Fragment(shapes[code]) if code in shapes else None,
            "properties": {"Pieces": route.pieces},
        }
        for code, route in routes.items()
    ]
    return orjson.dumps({"type": "FeatureCollection", "features": features})
