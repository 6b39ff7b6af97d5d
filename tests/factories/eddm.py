"""EDDM selections, without the operation that makes them."""

from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from delivery.datasets.models import Dataset
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from tests.factories.delivery import load_dataset

# Postal code, route, pieces, post office.
ROUTES = [
    ("84101", "C001", 240, "SALT LAKE CITY MAIN"),
    ("84101", "C002", 49, "SALT LAKE CITY MAIN"),
    ("84102", "R001", 311, ""),
]


def make_selection(routes: list[tuple[str, str, int, str]] = ROUTES, **facts: Any) -> EddmSelection:
    """`facts` name its application or user."""
    now = timezone.now()
    pieces = sum(route[2] for route in routes)
    selection = EddmSelection.objects.create(
        **{
            "dataset": Dataset.objects.first() or load_dataset(),
            "vintage": date(2026, 10, 1),
            "created": now,
            "expires": now + timedelta(days=90),
            "route_count": len(routes),
            "residential": pieces,
            "business": 0,
            "pieces": pieces,
            **facts,
        }
    )
    EddmSelectionRoute.objects.bulk_create(
        EddmSelectionRoute(
            selection=selection,
            position=position,
            postal_code=postal_code,
            carrier_route=route,
            residential=count,
            business=0,
            pieces=count,
            facility_name=office,
        )
        for position, (postal_code, route, count, office) in enumerate(routes, start=1)
    )
    return selection
