"""Selections visible to a caller, and their differences from the active data set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from accounts.callers import Caller, in_mode
from delivery.datasets.arrays import np, shapely
from delivery.datasets.models import Dataset
from delivery.datasets.populations import SELECTABLE_TYPES
from delivery.datasets.selectors import live_dataset
from delivery.datasets.shapes import in_degrees
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.selectors.candidates import candidates_by_code
from fulfillment.core.errors import NotFound
from fulfillment.core.text import parse_uuid


def visible_selections(caller: Caller) -> Q:
    """The caller's own selections, or all for an operator, of the caller's mode."""
    return in_mode(caller) if caller.is_operator else own_selections(caller)


def own_selections(caller: Caller) -> Q:
    """The caller's own selections, also for an operator."""
    if caller.is_application:
        own = Q(application=caller.application_id)
    elif caller.third_party_id is not None:
        own = Q(user=caller.user_id, application=caller.third_party_id)
    else:
        own = Q(user=caller.user_id)
    return own & in_mode(caller)


def made_by(caller: Caller) -> Q:
    """Selections that count for the caller's limit: of the user through any application, or of the application."""
    if caller.is_application:
        return Q(application=caller.application_id, user__isnull=True)
    return Q(user=caller.user_id)


def selection_of_caller(caller: Caller, selection_id: str | UUID) -> EddmSelection:
    """A selection that the caller may see, also if it has expired."""
    selection = _find_selection(selection_id, visible_selections(caller))
    if selection is None:
        raise NotFound(_("There is no selection with this ID for this caller."), code="selection_not_found")
    return selection


def selection_of_callers(callers: Sequence[Caller], selection_id: str | UUID) -> EddmSelection:
    """A selection that any of the callers may see."""
    scopes = [visible_selections(caller) for caller in callers]
    # An empty scope admits every row, and would have no effect in a disjunction.
    scope = reduce(or_, scopes) if all(scopes) else Q()
    selection = _find_selection(selection_id, scope) if scopes else None
    if selection is None:
        raise NotFound(_("There is no selection with this ID."), code="selection_not_found")
    return selection


def routes_of_selection(selection: EddmSelection) -> QuerySet[EddmSelectionRoute]:
    """The routes in the order of selection."""
    return EddmSelectionRoute.objects.filter(selection=selection).order_by("position")


def _find_selection(selection_id: str | UUID, scope: Q) -> EddmSelection | None:
    key = parse_uuid(str(selection_id))
    return EddmSelection.objects.filter(scope, pk=key).first() if key else None


def shapes_of_routes(selection: EddmSelection, routes: Sequence[EddmSelectionRoute]) -> list[str | None]:
    """The geometries as GeoJSON, from the data set of the selection; None if it has none or was deleted."""
    by_code = shapes_by_code(selection.dataset_id, {route.code for route in routes})
    return [by_code.get(route.code) for route in routes]


def shapes_by_code(dataset_id: int, routes: Collection[str]) -> dict[str, str]:
    """The shapes, as GeoJSON, of routes such as `84101C001`; without those that have no place in the data set."""
    candidates = candidates_by_code(dataset_id, sorted({route[:5] for route in routes}), SELECTABLE_TYPES)
    is_requested = np.array([code in routes for code in candidates.codes], bool)
    names = [code for code in candidates.codes if code in routes]
    shapes = shapely.to_geojson(in_degrees(candidates.packed.select(is_requested).shapes()))
    return {name: shape for name, shape in zip(names, shapes, strict=True) if shape}


@dataclass(frozen=True)
class ChangedRoute:
    code: str
    before: int
    after: int

    @property
    def change(self) -> int:
        return self.after - self.before


@dataclass(frozen=True)
class Differences:
    """`gone` are routes that the newer set does not have; pieces are of the routes that it has."""

    dataset: Dataset
    gone: list[str]
    changed: list[ChangedRoute]
    pieces: int


def differences_to_active(
    selection: EddmSelection, known_routes: Sequence[EddmSelectionRoute] = ()
) -> Differences | None:
    """The differences; None if the selection is of the active data set, or no set is active.

    Routes already read are not read again.
    """
    dataset = live_dataset()
    if dataset is None or dataset.pk == selection.dataset_id:
        return None
    is_whole = len(known_routes) == selection.route_count
    routes = list(known_routes if is_whole else routes_of_selection(selection))
    codes = sorted({route.postal_code for route in routes})
    candidates = candidates_by_code(dataset.pk, codes, dataset.route_types)
    counts = (
        candidates.residential if selection.residential_only else candidates.residential + candidates.business
    )
    pieces = dict(zip(candidates.codes, counts.tolist(), strict=True))
    remaining_routes = [route for route in routes if route.code in pieces]
    return Differences(
        dataset,
        [route.code for route in routes if route.code not in pieces],
        [
            ChangedRoute(route.code, route.pieces, pieces[route.code])
            for route in remaining_routes
            if pieces[route.code] != route.pieces
        ],
        sum(pieces[route.code] for route in remaining_routes),
    )
