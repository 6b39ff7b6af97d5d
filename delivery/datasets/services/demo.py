"""A small synthetic data set for trying the service out. Its ZIP codes are real, its counts,
shapes and people are invented."""

import hashlib
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from delivery.datasets.models import Dataset
from delivery.datasets.models.dataset import month_of
from delivery.datasets.populations import Populations, Routes, pack
from delivery.datasets.selectors.datasets import live_dataset
from delivery.datasets.services.datasets import Origin, activate_dataset, lock_live_dataset, store_populations
from delivery.datasets.services.demo_places import demo_details

DEMO_POSTAL_CODES: Final = (
    "84101", "84102", "84103", "84104", "84105", "84106", "84107", "84108", "84109", "84111",
    "84115", "84116", "84117", "84119", "84120", "84121", "84123", "84124", "80202", "80203",
    "80205", "97201", "97202", "97209", "98101", "98102", "94103", "94107", "90012", "90026",
    "85003", "78701", "75201", "60601", "60614", "55401", "30303", "33130", "02108", "10001",
)  # fmt: skip
# Route letters with how many routes a ZIP code has at most, and about how many homes and firms each route has.
SHAPES: Final = (("C", 9, 590, 45), ("R", 2, 480, 20), ("B", 4, 70, 18))
NAME: Final = "synthetic demo counts"


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
        count = 1 + _draw(f"{postal_code}{letter}", most) if letter == "C" else _draw(postal_code, most + 1)
        for number in range(1, count + 1):
            route = f"{letter}{number:03d}"
            spread = _draw(f"{postal_code}{route}", 61)
            routes[route] = pack(homes * (70 + spread) // 100, firms * (40 + 2 * spread) // 100)
    return routes


def _draw(text: str, below: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) % below
