"""Where the routes of candidates lie: in a polygon, in a circle, how far from its centre."""

from __future__ import annotations

from typing import TYPE_CHECKING

from delivery.datasets.shapes import GRID
from delivery.selection.criteria import Circle, box_of
from delivery.selection.selectors.candidates import Candidates
from fulfillment.core.deferred import DeferredModule
from fulfillment.core.errors import Invalid

if TYPE_CHECKING:
    import numpy as np
    import shapely
else:
    np, shapely = DeferredModule("numpy"), DeferredModule("shapely")


def overlaps_polygon(found: Candidates, polygon: shapely.Polygon, matches: np.ndarray) -> np.ndarray:
    """Whether any part of the route lies in the polygon or on its edge."""
    area = shapely.transform(polygon, lambda corners: corners * GRID)
    shapely.prepare(area)
    met = np.zeros(len(found), bool)
    with_shape, begins = found.packed.outlined()
    # Most are decided by one corner; of the others those nearby are looked at whole.
    met[with_shape] = shapely.contains_xy(area, found.packed.corners[begins])
    left = matches & ~met & found.packed.near(box_of(polygon))
    met[left] = shapely.intersects(area, found.packed.taken(left).shapes())
    return met


def overlaps_circle(found: Candidates, circle: Circle, matches: np.ndarray) -> np.ndarray:
    """Whether any part of the route lies in the circle."""
    met = np.zeros(len(found), bool)
    with_shape, begins = found.packed.outlined()
    corners = found.packed.corners[begins]
    if len(corners):
        met[with_shape] = np.hypot(*circle.flattened(corners).T) <= circle.miles
    left = matches & ~met & found.packed.near(circle.box)
    met[left] = miles_to_routes(found, circle, left)[left] <= circle.miles
    return met


def miles_to_routes(found: Candidates, circle: Circle, matches: np.ndarray) -> np.ndarray:
    """Miles from the centre of the circle to the nearest point of each route; infinite if unknown."""
    distances = np.full(len(found), np.inf)
    shapes = found.packed.taken(matches).shapes(circle.flattened)
    miles = shapely.distance(shapely.Point(0, 0), shapes)
    distances[np.flatnonzero(matches)] = np.where(np.isnan(miles), np.inf, miles)
    return distances


def middle_of(found: Candidates, postal_code: str) -> tuple[float, float]:
    """Latitude and longitude of the middle of a postal code's routes."""
    shapes = [shape for shape in found.packed.shapes() if shape is not None]
    if not shapes:
        message = f"PostalCode: where {postal_code} is, is not known; give Latitude and Longitude."
        raise Invalid.at("/Center/PostalCode", "postal_code_without_geometry", message)
    middle = shapely.centroid(shapely.GeometryCollection(shapes))
    return middle.y / GRID, middle.x / GRID
