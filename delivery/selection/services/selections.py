"""Stores selections."""

import uuid

from django.db import connection
from django.utils import timezone

from accounts.callers import Caller
from delivery.selection.models import EddmSelection
from delivery.selection.services.choosing import Choice, ChosenRoute
from delivery.selection.services.keeping import VALID_FOR, VALID_FOR_TESTS
from fulfillment.core.db.prepared import insert_row

COPY = (
    "COPY delivery_eddmselectionroute (selection_id, position, postal_code, carrier_route, residential, business,"
    " pieces, facility_name, median_income, median_age, household_size) FROM STDIN"
)


def create_selection(*, caller: Caller, choice: Choice) -> EddmSelection:
    """Freezes the routes and their counts. Call it in a transaction."""
    now = timezone.now()
    west, south, east, north = choice.bounds or (None, None, None, None)
    selection = EddmSelection(
        id=uuid.uuid4(),
        application_id=caller.application_id,
        user_id=caller.user_id,
        is_test=caller.is_test,
        created=now,
        expires=now + (VALID_FOR_TESTS if caller.is_test else VALID_FOR),
        dataset=choice.dataset,
        vintage=choice.dataset.vintage,
        is_synthetic=choice.dataset.is_synthetic,
        criteria=dict(choice.criteria.sent),
        residential_only=choice.criteria.residential_only,
        route_count=len(choice.routes),
        residential=sum(route.residential for route in choice.routes),
        business=sum(route.business for route in choice.routes),
        pieces=choice.pieces,
        west=west,
        south=south,
        east=east,
        north=north,
    )
    insert_row(selection)
    key = str(selection.pk)
    lines = (_line(key, position, route) for position, route in enumerate(choice.routes, start=1))
    with connection.cursor() as cursor, cursor.copy(COPY) as copy:
        copy.write("".join(lines))
    return selection


def _line(key: str, position: int, route: ChosenRoute) -> str:
    facility = route.facility_name.replace("\\", "\\\\")
    return (
        f"{key}\t{position}\t{route.postal_code}\t{route.carrier_route}\t{route.residential}\t{route.business}\t"
        f"{route.pieces}\t{facility}\t{_cell(route.median_income)}\t{_cell(route.median_age)}\t"
        f"{_cell(route.household_size)}\n"
    )


def _cell(value: float | None) -> str:
    return "\\N" if value is None else str(value)
