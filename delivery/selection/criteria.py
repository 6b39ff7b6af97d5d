"""The criteria of a selection, and their geometry: polygon and circle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from delivery.datasets.arrays import np, shapely
from delivery.datasets.shapes import GRID

EARTH_MILES: Final = 3958.7613
MAX_MILES: Final = 100
# The step by which a circle without a radius grows until it holds enough pieces.
STEPS_IN_MILES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0)
MAX_CORNERS: Final = 1_000
MAX_POSTAL_CODES: Final = 1_000
MAX_ROUTES: Final = 5_000
# The limit of an area before its routes are checked: a tenth of the country.
MAX_AREAS: Final = 4_000

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Range:
    low: float | None = None
    high: float | None = None

    def holds(self, value: float | None) -> bool:
        """Whether the value is in the range; unknown values never are."""
        if value is None:
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


@dataclass(frozen=True, slots=True)
class Center:
    """A point in degrees, or the middle of a postal code's routes."""

    latitude: float = 0.0
    longitude: float = 0.0
    postal_code: str = ""


@dataclass(frozen=True, slots=True)
class SelectionBudget:
    store_id: str
    product_id: str
    amount: Decimal
    delivery_method_code: str | None = None


@dataclass(frozen=True, slots=True)
class Criteria:
    """The criteria, which must all hold. `body` is the original request."""

    postal_codes: tuple[str, ...] = ()
    routes: tuple[str, ...] = ()
    polygon: shapely.Polygon | None = None
    center: Center | None = None
    radius: float | None = None
    route_types: str = ""
    residential_only: bool = False
    income: Range | None = None
    age: Range | None = None
    household: Range | None = None
    max_pieces: int | None = None
    budget: SelectionBudget | None = None
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needs_geometry(self) -> bool:
        return self.polygon is not None or self.center is not None


@dataclass(frozen=True, slots=True)
class Circle:
    """The circle of `miles` around a point on the globe."""

    latitude: float
    longitude: float
    miles: float

    @property
    def box(self) -> Box:
        """The bounding box in degrees, slightly enlarged, because edges of routes bend between their corners."""
        angle = self.miles * 1.02 / EARTH_MILES
        up = math.degrees(angle)
        south, north = self.latitude - up, self.latitude + up
        narrowest = math.cos(math.radians(self.latitude))
        if north >= 90 or south <= -90 or math.sin(angle) >= narrowest:
            return (-180.0, max(south, -90.0), 180.0, min(north, 90.0))
        across = math.degrees(math.asin(math.sin(angle) / narrowest))
        return (self.longitude - across, south, self.longitude + across, north)

    def project_corners(self, corners: np.ndarray) -> np.ndarray:
        """Corners on the grid as miles east and north of the middle, true in direction and distance from it."""
        longitude, latitude = np.radians(corners[:, 0] / GRID), np.radians(corners[:, 1] / GRID)
        own = math.radians(self.latitude)
        away = longitude - math.radians(self.longitude)
        east = np.cos(latitude) * np.sin(away)
        north = math.cos(own) * np.sin(latitude) - math.sin(own) * np.cos(latitude) * np.cos(away)
        sine = np.hypot(east, north)
        cosine = math.sin(own) * np.sin(latitude) + math.cos(own) * np.cos(latitude) * np.cos(away)
        scale = np.divide(np.arctan2(sine, cosine), sine, out=np.ones_like(sine), where=sine > 0)
        return np.column_stack((east, north)) * scale[:, None] * EARTH_MILES


def box_of(polygon: shapely.Polygon) -> Box:
    west, south, east, north = polygon.bounds
    return (west, south, east, north)
