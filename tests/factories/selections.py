"""Selections written straight to their tables, for tests of what is made from them."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from django.utils import timezone

from delivery.datasets.models import Dataset
from delivery.selection.models import EddmSelection, EddmSelectionRoute

ROUTES = (
    ("84101", "C001", 600, 40, "SALT LAKE CITY"),
    ("84101", "C002", 500, 0, "SALT LAKE CITY"),
    ("84102", "R001", 300, 5, "FOOTHILL"),
)


def make_selection(
    *,
    dataset: Dataset,
    user: Any = None,
    application: Any = None,
    routes: Sequence[tuple[str, str, int, int, str]] = ROUTES,
    residential_only: bool = False,
    valid_for: timedelta = timedelta(days=90),
    **fields: Any,
) -> EddmSelection:
    now = timezone.now()
    rows = [
        EddmSelectionRoute(
            position=position,
            postal_code=code,
            carrier_route=route,
            residential=homes,
            business=firms,
            pieces=homes if residential_only else homes + firms,
            facility_name=facility,
        )
        for position, (code, route, homes, firms, facility) in enumerate(routes, start=1)
    ]
    selection = EddmSelection.objects.create(
        user=user,
        application=application,
        created=now,
        expires=now + valid_for,
        dataset=dataset,
        residential_only=residential_only,
        route_count=len(rows),
        residential=sum(row.residential for row in rows),
        business=sum(row.business for row in rows),
        pieces=sum(row.pieces for row in rows),
        **{"vintage": date(2026, 10, 1), **fields},
    )
    for row in rows:
        row.selection = selection
    EddmSelectionRoute.objects.bulk_create(rows)
    return selection
