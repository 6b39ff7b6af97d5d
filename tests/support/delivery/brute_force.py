"""Selections worked out the slow way: every route of the exported file, one after the other, with plain mathematics."""

import csv
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely

from delivery.datasets.csv_export import export_lines
from delivery.datasets.models import Dataset
from delivery.selection.criteria import EARTH_MILES


class EveryRoute:
    """All routes of a data set with geometry, read from its export."""

    def __init__(self, dataset: Dataset) -> None:
        lines = [line for chunk in export_lines(dataset) for line in chunk.splitlines()]
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        chosen = [
            row
            for row in rows
            if row["CRID_ID"][0] in dataset.route_types and row["GEOMETRY"] and row["TOT_CNT"] != "0"
        ]
        self.shapes = shapely.from_wkt([row["GEOMETRY"] for row in chosen])
        self.bounds = shapely.bounds(self.shapes)
        self.codes = [f"{row['ZIP_CODE']}{row['CRID_ID']}" for row in chosen]
        self.pieces = dict(zip(self.codes, (int(row["TOT_CNT"]) for row in chosen), strict=True))

    def in_polygon(self, positions: Sequence[Sequence[float]]) -> set[str]:
        polygon = shapely.Polygon(positions)
        met = shapely.intersects(self.shapes, polygon)
        return {self.codes[at] for at in np.flatnonzero(met)}

    def in_circle(self, latitude: float, longitude: float, miles: float) -> dict[str, float]:
        """The distance of each route in the circle."""
        routes = {}
        for at in self._near(latitude, longitude, miles):
            distance = shapely.Point(0, 0).distance(_flattened(self.shapes[at], latitude, longitude))
            if distance <= miles:
                routes[self.codes[at]] = distance
        return routes

    def _near(self, latitude: float, longitude: float, miles: float) -> np.ndarray:
        """Without what is certainly outside: a degree of latitude has 69 miles."""
        west, south, east, north = self.bounds.T
        reach = miles / 69 * 1.1 + 0.01
        wide = reach / max(0.05, math.cos(math.radians(min(89.0, abs(latitude) + reach))))
        return np.flatnonzero(
            (south <= latitude + reach)
            & (north >= latitude - reach)
            & (west <= longitude + wide)
            & (east >= longitude - wide)
        )


def _flattened(shape: Any, latitude: float, longitude: float) -> Any:
    def flat(place: Sequence[float]) -> tuple[float, float]:
        away, bearing = miles_between(latitude, longitude, place[1], place[0])
        return away * math.sin(bearing), away * math.cos(bearing)

    return shapely.transform(shape, lambda corners: [flat(corner) for corner in corners])


def miles_between(
    latitude: float, longitude: float, other_latitude: float, other_longitude: float
) -> tuple[float, float]:
    """The distance along the globe by the haversine formula, and the bearing."""
    own_angle, other_angle = math.radians(latitude), math.radians(other_latitude)
    away = math.radians(other_longitude - longitude)
    half = (
        math.sin((other_angle - own_angle) / 2) ** 2
        + math.cos(own_angle) * math.cos(other_angle) * math.sin(away / 2) ** 2
    )
    bearing = math.atan2(
        math.sin(away) * math.cos(other_angle),
        math.cos(own_angle) * math.sin(other_angle)
        - math.sin(own_angle) * math.cos(other_angle) * math.cos(away),
    )
    return 2 * EARTH_MILES * math.asin(math.sqrt(half)), bearing
