"""Compares the routes of a selection with the active data set."""

from collections.abc import Sequence
from dataclasses import dataclass

from delivery.datasets.models import Dataset
from delivery.datasets.selectors.datasets import live_dataset
from delivery.selection.models import EddmSelection, EddmSelectionRoute
from delivery.selection.selectors.candidates import candidates_by_code
from delivery.selection.selectors.selections import routes_of_selection


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
    """None if the selection is of the active data set, or no set is active; routes already read are not read again."""
    dataset = live_dataset()
    if dataset is None or dataset.pk == selection.dataset_id:
        return None
    is_whole = len(known_routes) == selection.route_count
    routes = list(known_routes if is_whole else routes_of_selection(selection))
    codes = sorted({route.postal_code for route in routes})
    found = candidates_by_code(dataset.pk, codes, dataset.route_types)
    homes, firms = found.residential.tolist(), found.business.tolist()
    now = dict(zip(found.codes, zip(homes, firms, strict=True), strict=True))
    known = [route for route in routes if route.code in now]
    pieces = {route.code: _pieces(selection, now[route.code]) for route in known}
    return Differences(
        dataset,
        [route.code for route in routes if route.code not in now],
        [_changed(route, pieces) for route in known if pieces[route.code] != route.pieces],
        sum(pieces.values()),
    )


def _pieces(selection: EddmSelection, counts: tuple[int, int]) -> int:
    homes, firms = counts
    return homes if selection.residential_only else homes + firms


def _changed(route: EddmSelectionRoute, pieces: dict[str, int]) -> ChangedRoute:
    return ChangedRoute(route.code, route.pieces, pieces[route.code])
