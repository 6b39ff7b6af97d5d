"""Stores selections, with their retention and their personal data."""

import uuid
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.callers import Caller
from delivery.selection.models import ChosenRoute, EddmSelection
from delivery.selection.selectors.selections import made_by
from delivery.selection.services.choosing import Choice
from fulfillment.core.audit.personal_data import PersonalData
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from fulfillment.core.db.copying import copy_rows
from fulfillment.core.errors import Conflict
from fulfillment.core.text import JsonObject, timestamp

# New counts are published each month, so older selections must be chosen again.
VALID_FOR = timedelta(days=90)
VALID_FOR_TESTS = timedelta(days=30)
# Expired selections stay readable for this time, so that they can be chosen again.
RETENTION = timedelta(days=90)


def retain_for_order(*, selection_id: UUID) -> None:
    """Keeps the selection as long as its order. Call it in the transaction of the order."""
    EddmSelection.objects.filter(pk=selection_id).update(is_ordered=True)


def retention_rules() -> list[RetentionRule]:
    return [
        rule_for_rows(
            "expired EDDM selections",
            lambda: EddmSelection.objects.filter(expires__lt=timezone.now() - RETENTION, is_ordered=False),
        )
    ]


def create_selection(*, caller: Caller, choice: Choice) -> EddmSelection:
    """Freezes the routes and their counts. Call it in a transaction. Raises Conflict when the caller has too many."""
    now = timezone.now()
    _refuse_too_many(caller, len(choice.routes), now)
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
        criteria=dict(choice.criteria.body),
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
    selection.save(force_insert=True)
    copy_rows(
        "delivery_eddmselectionroute",
        ("selection_id", "position", *ChosenRoute._fields),
        ((selection.pk, position, *route) for position, route in enumerate(choice.routes, start=1)),
    )
    return selection


def _refuse_too_many(caller: Caller, routes: int, now: datetime) -> None:
    """Limits selections without an order. Each parallel request may exceed the limit by one."""
    max_selections, max_routes = settings.SELECTIONS_PER_CALLER, settings.SELECTED_ROUTES_PER_CALLER
    unordered = EddmSelection.objects.filter(made_by(caller), created__gt=now - VALID_FOR)
    unordered = unordered.filter(expires__gt=now, is_ordered=False)
    newest = unordered.order_by("-created").values_list("route_count", "expires")[:max_selections]
    rows = list(newest)
    if len(rows) < max_selections and sum(count for count, _ in rows) + routes <= max_routes:
        return
    until = min((expires for _, expires in rows), default=now)
    message = (
        f"You have {len(rows):,} selections with {sum(count for count, _ in rows):,} routes that are not ordered; "
        f"at most {max_selections:,} with {max_routes:,} routes are kept for a caller. Order one, or wait until the "
        f"first of them expires on {until:%Y-%m-%d}."
    )
    raise Conflict(message, code="too_many_selections")


def personal_data() -> list[PersonalData]:
    return [PersonalData("eddm_selections", _selections_of, _erase_person)]


def _selections_of(user: Any) -> list[JsonObject]:
    selections = EddmSelection.objects.filter(user=user).order_by("pk")
    return [
        {
            "SelectionID": str(selection.pk),
            "Created": timestamp(selection.created),
            "Pieces": selection.pieces,
            "Criteria": selection.criteria,
        }
        for selection in selections
    ]


def _erase_person(user: Any) -> None:
    """Deletes the user's selections; ordered ones stay without the user."""
    selections = EddmSelection.objects.filter(user=user)
    selections.filter(is_ordered=False).delete()
    selections.update(user=None, criteria={})
