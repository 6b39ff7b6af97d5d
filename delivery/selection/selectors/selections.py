"""Selections visible to a caller."""

from collections.abc import Collection, Sequence
from uuid import UUID

import numpy as np
import shapely
from django.db.models import Q, QuerySet

from accounts.callers import Caller
from accounts.selectors.modes import in_mode, in_mode_of_new
from delivery.datasets.populations import SELECTABLE_TYPES
from delivery.datasets.shapes import in_degrees
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.selectors.candidates import candidates_by_code
from fulfillment.core.errors import NotFound


def visible_selections(caller: Caller) -> Q:
    """The caller's own ones, of the caller's mode; an operator sees all."""
    return in_mode(caller) if caller.is_operator else own_selections(caller)


def own_selections(caller: Caller) -> Q:
    """The caller's own ones, an operator's too."""
    if caller.is_application:
        own = Q(application=caller.application_id)
    elif caller.third_party_id is not None:
        own = Q(user=caller.user_id, application=caller.third_party_id)
    else:
        own = Q(user=caller.user_id)
    return own & in_mode(caller)


def selection_of_caller(caller: Caller, selection_id: str | UUID, *, for_new: bool = False) -> EddmSelection:
    """One that the caller may see; `for_new`: that may become part of what the caller makes. Expired ones too."""
    selection = None
    key = _key(selection_id)
    if key is not None:
        scope = visible_selections(caller)
        if for_new:
            scope &= in_mode_of_new(caller)
        selection = EddmSelection.objects.filter(scope, pk=key).first()
    if selection is None:
        raise NotFound("There is no selection with this ID for this caller.", code="selection_not_found")
    return selection


def routes_of_selection(selection: EddmSelection) -> QuerySet[EddmSelectionRoute]:
    """The routes in the order of selection."""
    return EddmSelectionRoute.objects.filter(selection=selection).order_by("position")


def _key(selection_id: str | UUID) -> UUID | None:
    if isinstance(selection_id, UUID):
        return selection_id
    try:
        return UUID(selection_id)
    except ValueError:
        return None


def shapes_of_routes(selection: EddmSelection, routes: Sequence[EddmSelectionRoute]) -> list[str | None]:
    """Their geometries as GeoJSON, by the data set they were chosen from; None where it has none, or is gone."""
    by_code = shapes_by_code(selection.dataset_id, {route.code for route in routes})
    return [by_code.get(route.code) for route in routes]


def shapes_by_code(dataset_id: int, routes: Collection[str]) -> dict[str, str]:
    """Of routes as `84101C001`, those that have a place in the data set, as GeoJSON."""
    found = candidates_by_code(dataset_id, sorted({route[:5] for route in routes}), SELECTABLE_TYPES)
    chosen = np.array([code in routes for code in found.codes], bool)
    names = [code for code in found.codes if code in routes]
    shapes = shapely.to_geojson(in_degrees(found.packed.taken(chosen).shapes()))
    return {name: shape for name, shape in zip(names, shapes, strict=True) if shape}
