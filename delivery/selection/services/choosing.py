"""Finds the routes that match criteria and a budget; writes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from accounts.callers import Caller
from delivery.concurrency_limits import SELECTIONS
from delivery.datasets.arrays import np
from delivery.datasets.models import Dataset
from delivery.datasets.selectors import active_dataset
from delivery.selection.criteria import (
    MAX_MILES,
    MAX_ROUTES,
    STEPS_IN_MILES,
    Circle,
    Criteria,
    box_of,
)
from delivery.selection.models import ChosenRoute
from delivery.selection.selectors.candidates import (
    Candidates,
    candidates_by_box,
    candidates_by_code,
    find_middle,
    miles_to_routes,
    overlaps_circle,
    overlaps_polygon,
)
from delivery.selection.services.piece_limits import piece_limit
from fulfillment.core.errors import MAX_LISTED, Conflict, Fault, Invalid


class GeometryMissing(Conflict):
    code = "geometry_missing"


@dataclass(frozen=True)
class Choice:
    """Chosen routes in order. `bounds` are west, south, east and north."""

    dataset: Dataset
    criteria: Criteria
    routes: list[ChosenRoute]
    bounds: tuple[float, float, float, float] | None

    @property
    def pieces(self) -> int:
        return sum(route.pieces for route in self.routes)


def choose_routes(*, caller: Caller, criteria: Criteria) -> Choice:
    """Raises Invalid with every unknown route or code, and for an empty selection."""
    with SELECTIONS.slot(caller.key):
        return _Search(active_dataset(), criteria, piece_limit(caller, criteria)).choice()


class _Search:
    def __init__(self, dataset: Dataset, criteria: Criteria, piece_limit: int | None) -> None:
        self.dataset, self.criteria, self.piece_limit = dataset, criteria, piece_limit
        self.types = criteria.route_types or dataset.route_types

    def choice(self) -> Choice:
        self._check_types()
        explicit = self._named_candidates()
        around = self._around_center()
        if self.criteria.needs_geometry and not self.dataset.has_geometry:
            raise GeometryMissing(
                _(
                    "The active data set has no geometry: Polygon and Center cannot be used. Name PostalCodes or "
                    "Routes."
                )
            )
        circle = self._circle(around)
        candidates, order = self._candidates_in_order(explicit, circle)
        selected = self._within_limit(candidates, order)
        if len(selected) > MAX_ROUTES:
            message = _("%(count)s routes are in the area; at most %(limit)s can be selected at once.")
            values = _format_numbers(count=len(selected), limit=MAX_ROUTES)
            raise Invalid(message % values, code="too_many_routes")
        if not len(selected):
            raise self._empty_selection(candidates, order)
        return Choice(
            self.dataset, self.criteria, *_take_routes(candidates, selected, self.criteria.residential_only)
        )

    def _check_types(self) -> None:
        uncounted = [letter for letter in self.types if letter not in self.dataset.route_types]
        if uncounted:
            message = _("RouteTypes: %(types)s is not counted by this service; write some of %(counted)s.")
            values = {"types": ", ".join(uncounted), "counted": ", ".join(self.dataset.route_types)}
            raise Invalid.at("/RouteTypes", "route_type_not_counted", message % values)

    def _named_candidates(self) -> Candidates | None:
        """The routes of the postal codes and routes that are named, or None where neither are."""
        criteria = self.criteria
        codes = sorted({*criteria.postal_codes, *(route[:5] for route in criteria.routes)})
        if not codes:
            return None
        candidates = candidates_by_code(self.dataset.pk, codes, self.dataset.route_types)
        route_codes = set(candidates.codes) if criteria.routes else set()
        faults = [
            Fault(
                f"/PostalCodes/{index}",
                "postal_code_unknown",
                _("%(code)s has no routes in the data of %(month)s.") % {"code": code, "month": self._month},
            )
            for index, code in enumerate(criteria.postal_codes)
            if code not in candidates.known_codes
        ]
        faults += [
            Fault(
                f"/Routes/{index}",
                "route_unknown",
                _("%(route)s is not a route in the data of %(month)s.")
                % {"route": route, "month": self._month},
            )
            for index, route in enumerate(criteria.routes)
            if route not in route_codes
        ]
        _raise_unknown(faults)
        return candidates

    @property
    def _month(self) -> str:
        return f"{self.dataset.vintage:%Y-%m}"

    def _around_center(self) -> Candidates | None:
        """The routes of the postal code in the middle, where one is named."""
        center = self.criteria.center
        if center is None or not center.postal_code:
            return None
        candidates = candidates_by_code(self.dataset.pk, [center.postal_code], self.dataset.route_types)
        if not candidates.known_codes:
            message = _("PostalCode: %(code)s has no routes in the data of %(month)s.")
            values = {"code": center.postal_code, "month": self._month}
            raise Invalid.at("/Center/PostalCode", "postal_code_unknown", message % values)
        return candidates

    def _circle(self, around: Candidates | None) -> Circle | None:
        criteria, center = self.criteria, self.criteria.center
        if center is None:
            return None
        latitude, longitude = center.latitude, center.longitude
        if around is not None:
            latitude, longitude = find_middle(around, center.postal_code)
        return Circle(latitude, longitude, criteria.radius or MAX_MILES)

    def _candidates_in_order(
        self, explicit: Candidates | None, circle: Circle | None
    ) -> tuple[Candidates, np.ndarray]:
        """Candidates, and which of them hold all criteria, in the order in which they are taken."""
        if (
            explicit is not None
            or circle is None
            or self.criteria.radius is not None
            or self.criteria.polygon
        ):
            candidates = explicit or self._in_box(circle)
            return candidates, self._matching(candidates, circle)
        limit = self.piece_limit or 0
        for miles in STEPS_IN_MILES:
            circle = Circle(circle.latitude, circle.longitude, miles)
            candidates = self._in_box(circle)
            is_small = self._pieces(candidates).sum() < limit and len(candidates) <= MAX_ROUTES
            if is_small and miles < MAX_MILES:
                continue
            order = self._matching(candidates, circle)
            # A circle that holds too few pieces is taken whole, so too many routes in it end the search as well.
            if self._pieces(candidates)[order].sum() >= limit or len(order) > MAX_ROUTES:
                break
        return candidates, order

    def _in_box(self, circle: Circle | None) -> Candidates:
        polygon = self.criteria.polygon
        if polygon is None:
            around = circle.box if circle else (0.0, 0.0, 0.0, 0.0)
            return candidates_by_box(self.dataset.pk, around, self.types, "/RadiusMiles")
        box = box_of(polygon)
        if circle is not None and self.criteria.radius is not None:
            area = circle.box
            box = (max(box[0], area[0]), max(box[1], area[1]), min(box[2], area[2]), min(box[3], area[3]))
        return candidates_by_box(self.dataset.pk, box, self.types, "/Polygon")

    def _matching(self, candidates: Candidates, circle: Circle | None) -> np.ndarray:
        criteria = self.criteria
        matches = self._pieces(candidates) > 0
        if criteria.route_types:
            matches &= np.array([route[0] in self.types for route in candidates.routes], bool)
        for names, allowed_names in (
            (candidates.postal_codes, criteria.postal_codes),
            (candidates.codes if criteria.routes else [], criteria.routes),
        ):
            if allowed_names:
                allowed_set = frozenset(allowed_names)
                matches &= np.array([name in allowed_set for name in names], bool)
        # Before the geometry, which takes far longer for each route.
        matches = self._within_demographics(candidates, matches)
        if criteria.polygon is not None:
            matches &= overlaps_polygon(candidates, criteria.polygon, matches)
        distances = None
        if circle is not None:
            if self.piece_limit is None:
                matches &= overlaps_circle(candidates, circle, matches)
            else:
                distances = miles_to_routes(candidates, circle, matches)
                matches &= distances <= circle.miles if self._is_limited_by(circle) else True
        where = np.flatnonzero(matches)
        if distances is not None and self.piece_limit is not None:
            where = where[np.argsort(distances[where], kind="stable")]
        return where

    def _is_limited_by(self, circle: Circle) -> bool:
        """Whether the circle limits routes: without a radius the center only sorts them."""
        criteria = self.criteria
        is_area = not (criteria.postal_codes or criteria.routes or criteria.polygon)
        return criteria.radius is not None or is_area

    def _within_demographics(self, candidates: Candidates, matches: np.ndarray) -> np.ndarray:
        criteria = self.criteria
        ranges = (criteria.income, criteria.age, criteria.household)
        if not any(ranges):
            return matches
        within = matches.copy()
        within[matches] = [
            all(
                limits is None or limits.holds(value)
                for limits, value in zip(ranges, (facts.income, facts.age, facts.household), strict=True)
            )
            for facts in candidates.facts(np.flatnonzero(matches))
        ]
        return within

    def _pieces(self, candidates: Candidates) -> np.ndarray:
        return (
            candidates.residential
            if self.criteria.residential_only
            else candidates.residential + candidates.business
        )

    def _within_limit(self, candidates: Candidates, order: np.ndarray) -> np.ndarray:
        """Takes whole routes while they fit the limit, and skips larger ones."""
        if self.piece_limit is None:
            return order
        remaining, selected = self.piece_limit, []
        for index, pieces in zip(order.tolist(), self._pieces(candidates)[order].tolist(), strict=True):
            if pieces <= remaining:
                selected.append(index)
                remaining -= pieces
        return np.array(selected, np.int64)

    def _empty_selection(self, candidates: Candidates, order: np.ndarray) -> Invalid:
        if len(order):
            smallest = int(self._pieces(candidates)[order].min())
            message = _("The smallest of the %(count)s routes has %(pieces)s pieces, more than %(limit)s.")
            values = _format_numbers(count=len(order), pieces=smallest, limit=self.piece_limit or 0)
            pointer = "/MaxPieces" if self.criteria.max_pieces == self.piece_limit else "/Budget/Amount"
            return Invalid.at(pointer, "selection_empty", message % values)
        if self.criteria.needs_geometry and not (self.criteria.postal_codes or self.criteria.routes):
            message = _("No route with deliveries is in the area, or none there meets the other criteria.")
        else:
            message = _("No route meets all criteria.")
        return Invalid(message, code="selection_empty")


def _take_routes(
    candidates: Candidates, selected: np.ndarray, residential_only: bool
) -> tuple[list[ChosenRoute], tuple[float, float, float, float] | None]:
    is_selected = np.zeros(len(candidates), bool)
    is_selected[selected] = True
    indexes = selected.tolist()
    residential, business = candidates.residential[selected].tolist(), candidates.business[selected].tolist()
    routes = [
        ChosenRoute(
            candidates.postal_codes[index],
            candidates.routes[index],
            homes,
            firms,
            homes if residential_only else homes + firms,
            *facts,
        )
        for index, homes, firms, facts in zip(
            indexes, residential, business, candidates.facts(indexes), strict=True
        )
    ]
    return routes, candidates.packed.select(is_selected).bounds


def _format_numbers(**numbers: int) -> dict[str, str]:
    return {name: number_format(number, force_grouping=True) for name, number in numbers.items()}


def _raise_unknown(faults: Sequence[Fault]) -> None:
    if not faults:
        return
    codes = {fault.code for fault in faults}
    message = _("%(count)s postal codes or routes are not known.")
    detail = faults[0].message if len(faults) == 1 else message % {"count": len(faults)}
    code = codes.pop() if len(codes) == 1 else "validation_failed"
    raise Invalid(detail, code=code, faults=faults[:MAX_LISTED], fault_count=len(faults))
