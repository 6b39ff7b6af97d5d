"""A small synthetic data set: its ZIP codes and their places are real, its counts, shapes and people invented."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from delivery.datasets.arrays import np, shapely
from delivery.datasets.details import Details
from delivery.datasets.models.dataset import Dataset, month_of
from delivery.datasets.populations import Populations, Routes, pack
from delivery.datasets.problems import ProblemLog
from delivery.datasets.selectors import live_dataset
from delivery.datasets.services.datasets import Origin, activate_dataset, lock_live_dataset, store_populations

# Cities with the approximate latitude and longitude of their ZIP codes.
CITIES: Final[Mapping[str, Mapping[str, tuple[float, float]]]] = {
    "Salt Lake City": {
        "84101": (40.755, -111.9), "84102": (40.76, -111.86), "84103": (40.78, -111.875), "84104": (40.75, -111.94),
        "84105": (40.735, -111.86), "84106": (40.705, -111.855), "84107": (40.66, -111.89), "84108": (40.74, -111.825),
        "84109": (40.705, -111.815), "84111": (40.755, -111.88), "84115": (40.715, -111.895), "84116": (40.79, -111.93),
        "84117": (40.655, -111.835), "84119": (40.7, -111.95), "84120": (40.69, -112.0), "84121": (40.625, -111.8),
        "84123": (40.66, -111.92), "84124": (40.68, -111.81),
    },
    "Denver": {"80202": (39.75, -104.995), "80203": (39.73, -104.98), "80205": (39.76, -104.965)},
    "Portland": {"97201": (45.505, -122.69), "97202": (45.485, -122.635), "97209": (45.53, -122.685)},
    "Seattle": {"98101": (47.61, -122.335), "98102": (47.63, -122.32)},
    "San Francisco": {"94103": (37.775, -122.415), "94107": (37.76, -122.395)},
    "Los Angeles": {"90012": (34.06, -118.24), "90026": (34.075, -118.265)},
    "Phoenix": {"85003": (33.45, -112.075)},
    "Austin": {"78701": (30.27, -97.74)},
    "Dallas": {"75201": (32.79, -96.805)},
    "Chicago": {"60601": (41.885, -87.62), "60614": (41.925, -87.65)},
    "Minneapolis": {"55401": (44.985, -93.27)},
    "Atlanta": {"30303": (33.755, -84.39)},
    "Miami": {"33130": (25.765, -80.205)},
    "Boston": {"02108": (42.36, -71.07)},
    "New York": {"10001": (40.75, -73.995)},
}  # fmt: skip
REACH: Final = 0.016
# West, south, east and north of the city with the most routes, where maps of the demo begin.
DEMO_VIEW: Final = "-112.03,40.61,-111.78,40.81"
# The golden angle, which spreads the routes evenly around the middle of a ZIP code.
TURN: Final = math.pi * (3 - math.sqrt(5))
DEMO_POSTAL_CODES: Final = (
    "84101", "84102", "84103", "84104", "84105", "84106", "84107", "84108", "84109", "84111",
    "84115", "84116", "84117", "84119", "84120", "84121", "84123", "84124", "80202", "80203",
    "80205", "97201", "97202", "97209", "98101", "98102", "94103", "94107", "90012", "90026",
    "85003", "78701", "75201", "60601", "60614", "55401", "30303", "33130", "02108", "10001",
)  # fmt: skip
# Route letters with how many routes a ZIP code has at most, and about how many homes and firms each route has.
SHAPES: Final = (("C", 9, 590, 45), ("R", 2, 480, 20), ("B", 4, 70, 18))
NAME: Final = "synthetic demo counts"


def demo_details(populations: Populations) -> Details:
    """Shapes and demographics of the demo's routes: adjacent areas for street routes, points for PO Boxes."""
    details, log = Details(), ProblemLog()
    for city, places in CITIES.items():
        shapes = _street_shapes(places, populations)
        for code, (latitude, longitude) in places.items():
            for route in sorted(populations[code]):
                key = f"{code}{route}"
                shape = shapes.get(key) or shapely.Point(longitude, latitude)
                details.add(0, code, route, (shape, *_invent_people(key), f"{city} (invented)"), log)
    details.pack(log)
    return details


def _street_shapes(
    places: Mapping[str, tuple[float, float]], populations: Populations
) -> dict[str, shapely.Geometry]:
    """The area nearest to the middle of each route, within REACH of its city's ZIP codes."""
    seeds = {}
    for code, (latitude, longitude) in places.items():
        routes = [route for route in sorted(populations[code]) if route[0] in "CRH"]
        for number, route in enumerate(routes):
            away = REACH * 0.85 * math.sqrt((number + 0.5) / len(routes))
            angle = number * TURN + _draw_number(code, 360)
            wide = away / math.cos(math.radians(latitude))
            seeds[f"{code}{route}"] = (
                longitude + wide * math.cos(angle),
                latitude + away * math.sin(angle),
            )
    points = shapely.points(np.array(list(seeds.values())))
    around = shapely.union_all(
        [shapely.Point(longitude, latitude).buffer(REACH * 1.3) for latitude, longitude in places.values()]
    )
    cells = shapely.get_parts(
        shapely.voronoi_polygons(shapely.multipoints(points), extend_to=around, ordered=True)
        if len(seeds) > 1
        else around
    )
    return dict(zip(seeds, shapely.intersection(cells, around), strict=True))


def _invent_people(key: str) -> tuple[str, str, str]:
    income = 28_000 + 500 * _draw_number(f"{key} income", 240)
    age = 24 + _draw_number(f"{key} age", 350) / 10
    household = 1.4 + _draw_number(f"{key} household", 240) / 100
    return str(income), f"{age:.1f}", f"{household:.2f}"


def _draw_number(text: str, below: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % below


@transaction.atomic
def load_demo_population() -> Dataset | None:
    """Loads and activates the synthetic set where no data set is active yet; else changes nothing."""
    lock_live_dataset()
    if live_dataset() is not None:
        return None
    origin = Origin(
        vintage=month_of(timezone.now().date()),
        source_format="synthetic",
        file_name=NAME,
        sha256=hashlib.sha256(repr((DEMO_POSTAL_CODES, SHAPES)).encode()).hexdigest(),
        created_by=NAME,
        is_synthetic=True,
    )
    populations = demo_populations()
    dataset = store_populations(
        populations=populations,
        route_types=settings.EDDM_ROUTE_TYPES,
        origin=origin,
        details=demo_details(populations),
    )
    return activate_dataset(dataset_id=dataset.pk, by=NAME)


def demo_populations() -> Populations:
    return {code: _routes_of(code) for code in DEMO_POSTAL_CODES}


def _routes_of(postal_code: str) -> Routes:
    """Invented routes, always the same: derived from a digest of the code."""
    routes: Routes = {}
    for letter, most, homes, firms in SHAPES:
        count = (
            1 + _draw_number(f"{postal_code}{letter}", most)
            if letter == "C"
            else _draw_number(postal_code, most + 1)
        )
        for number in range(1, count + 1):
            route = f"{letter}{number:03d}"
            spread = _draw_number(f"{postal_code}{route}", 61)
            routes[route] = pack(homes * (70 + spread) // 100, firms * (40 + 2 * spread) // 100)
    return routes
