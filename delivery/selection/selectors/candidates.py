"""The routes that an area or a list of postal codes may select, and where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from delivery.datasets.arrays import np, shapely
from delivery.datasets.details import Facts, facts_from_row
from delivery.datasets.selectors import active_dataset
from delivery.datasets.shapes import GRID, Packed, in_degrees, read_areas
from delivery.selection.criteria import MAX_AREAS, Box, Circle, box_of
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import Invalid

COLUMNS = "population.postal_code, population.routes, area.shapes, area.facts"
BY_CODE = f"""
SELECT {COLUMNS}
FROM unnest((SELECT string_to_array(%s, ','))) requested(code)
JOIN delivery_population population ON population.dataset_id = %s AND population.postal_code = requested.code
LEFT JOIN delivery_area area ON area.dataset_id = %s AND area.postal_code = requested.code
ORDER BY population.postal_code
"""  # noqa: S608 - names of our columns
# The index knows boxes of every data set; there are two or three.
BY_BOX = f"""
SELECT {COLUMNS}
FROM (
    SELECT dataset_id, postal_code, shapes, facts FROM delivery_area
    WHERE box && box(point(%s, %s), point(%s, %s)) AND dataset_id = %s
    LIMIT %s
) area JOIN delivery_population population USING (dataset_id, postal_code)
ORDER BY population.postal_code
"""  # noqa: S608 - names of our columns

# More routes would make the map slow and illegible.
MAX_DRAWN = 4_000
# Corners of a polygon times routes near it: a comb of long teeth takes up to 70 ns for each.
MAX_COMPARISONS = 20_000_000
NO_FACTS = Facts()


@dataclass
class Candidates:
    """Routes of some postal codes, each of a type that may be selected; all arrays are by route."""

    postal_codes: list[str]
    routes: list[str]
    residential: np.ndarray
    business: np.ndarray
    packed: Packed
    # The stored facts of each postal code; for each route, the index of its postal code and its place in it.
    _facts: Sequence[str | None]
    _row: list[int]
    _position: list[int]
    known_codes: frozenset[str]

    def __len__(self) -> int:
        return len(self.routes)

    @property
    def codes(self) -> list[str]:
        """Postal code and route, such as `84101C001`."""
        return [code + route for code, route in zip(self.postal_codes, self.routes, strict=True)]

    def facts(self, indexes: Sequence[int] | np.ndarray) -> Iterator[Facts]:
        """The facts of the routes at these places, in their order."""
        facts_by_row: dict[int, tuple[list[str], list[list[int]]]] = {}
        for index in indexes:
            row = self._row[index]
            text = self._facts[row]
            if text is None:
                yield NO_FACTS
                continue
            if row not in facts_by_row:
                facts_by_row[row] = orjson.loads(text)
            facilities, rows_of_code = facts_by_row[row]
            yield facts_from_row(facilities, rows_of_code[self._position[index]])


def candidates_by_code(dataset_id: int, postal_codes: Sequence[str], types: str) -> Candidates:
    return _make_candidates(fetch_rows(BY_CODE, (",".join(postal_codes), dataset_id, dataset_id)), types)


def candidates_by_box(dataset_id: int, box: Box, types: str, pointer: str) -> Candidates:
    """The routes of postal codes that may reach into the box, in degrees; none if the box is empty."""
    west, south, east, north = (value * GRID for value in box)
    if west > east or south > north:
        # PostgreSQL would swap the corners and find everything between two areas.
        return _make_candidates([], types)
    rows = fetch_rows(BY_BOX, (west, south, east, north, dataset_id, MAX_AREAS + 1))
    if len(rows) > MAX_AREAS:
        message = _("The area covers more than %(limit)s postal codes; choose a smaller one.")
        limit = number_format(MAX_AREAS, force_grouping=True)
        raise Invalid.at(pointer, "area_too_large", message % {"limit": limit})
    return _make_candidates(rows, types)


def _make_candidates(rows: Sequence[tuple[str, str, bytes | None, str | None]], types: str) -> Candidates:
    codes, texts, shapes, facts = zip(*rows, strict=True) if rows else ((), (), (), ())
    sizes = np.array([text.count(",") + 1 if text else 0 for text in texts], np.int64)
    # "C001 600 40" of each route.
    listed_routes = ",".join(text for text in texts if text).split(",") if any(texts) else []
    is_selectable = np.fromiter((route[0] in types for route in listed_routes), bool, len(listed_routes))
    selectable = np.flatnonzero(is_selectable)
    cells = " ".join([listed_routes[index] for index in selectable.tolist()]).split(" ")
    of_row = np.repeat(np.arange(len(rows)), sizes)[selectable]
    places = selectable - (np.cumsum(sizes) - sizes)[of_row]
    of_row_list = of_row.tolist()
    packed = read_areas([bytes(shape or b"") for shape in shapes], sizes.tolist())
    return Candidates(
        [codes[row] for row in of_row_list],
        cells[0::3] if len(selectable) else [],
        np.array(list(map(int, cells[1::3])), np.int64),
        np.array(list(map(int, cells[2::3])), np.int64),
        packed.select(is_selectable),
        facts,
        of_row_list,
        places.tolist(),
        frozenset(codes),
    )


def routes_in_view(box: Box) -> tuple[Candidates, np.ndarray]:
    """The routes of the active data set whose shapes touch a box of degrees, and their shapes in degrees.

    Too many to draw are refused.
    """
    dataset = active_dataset()
    candidates = candidates_by_box(dataset.pk, box, dataset.route_types, "")
    view = shapely.box(*(value * GRID for value in box))
    shapely.prepare(view)
    shapes = candidates.packed.shapes()
    shapes[~shapely.intersects(view, shapes)] = None
    if sum(shape is not None for shape in shapes) > MAX_DRAWN:
        raise Invalid(_("There are too many routes in view. Zoom in."), code="too_many_routes")
    return candidates, in_degrees(shapes)


def overlaps_polygon(candidates: Candidates, polygon: shapely.Polygon, matches: np.ndarray) -> np.ndarray:
    """Whether any part of the route lies in the polygon or on its edge."""
    count, corners = int(matches.sum()), int(shapely.get_num_coordinates(polygon))
    if count * corners > MAX_COMPARISONS:
        message = _(
            "The polygon has %(corners)s positions, and %(routes)s routes may lie in it. Simplify it, or choose a "
            "smaller area."
        )
        counts = {"corners": corners, "routes": count}
        values = {name: number_format(number, force_grouping=True) for name, number in counts.items()}
        raise Invalid.at("/Polygon", "area_too_large", message % values)
    area = shapely.transform(polygon, lambda corners: corners * GRID)
    shapely.prepare(area)
    overlaps = np.zeros(len(candidates), bool)
    with_shape, begins = candidates.packed.first_corners()
    is_candidate = matches[with_shape]
    with_shape, begins = with_shape[is_candidate], begins[is_candidate]
    # Most are decided by one corner; of the others those nearby are looked at whole.
    overlaps[with_shape] = shapely.contains_xy(area, candidates.packed.corners[begins])
    undecided = matches & ~overlaps & candidates.packed.near(box_of(polygon))
    overlaps[undecided] = shapely.intersects(area, candidates.packed.select(undecided).shapes())
    return overlaps


def overlaps_circle(candidates: Candidates, circle: Circle, matches: np.ndarray) -> np.ndarray:
    """Whether any part of the route lies in the circle."""
    overlaps = np.zeros(len(candidates), bool)
    with_shape, begins = candidates.packed.first_corners()
    corners = candidates.packed.corners[begins]
    if len(corners):
        overlaps[with_shape] = np.hypot(*circle.project_corners(corners).T) <= circle.miles
    undecided = matches & ~overlaps & candidates.packed.near(circle.box)
    overlaps[undecided] = miles_to_routes(candidates, circle, undecided)[undecided] <= circle.miles
    return overlaps


def miles_to_routes(candidates: Candidates, circle: Circle, matches: np.ndarray) -> np.ndarray:
    """Miles from the center of the circle to the nearest point of each route; infinite if unknown."""
    distances = np.full(len(candidates), np.inf)
    shapes = candidates.packed.select(matches).shapes(circle.project_corners)
    miles = shapely.distance(shapely.Point(0, 0), shapes)
    distances[np.flatnonzero(matches)] = np.where(np.isnan(miles), np.inf, miles)
    return distances


def find_middle(candidates: Candidates, postal_code: str) -> tuple[float, float]:
    """Latitude and longitude of the middle of a postal code's routes."""
    shapes = [shape for shape in candidates.packed.shapes() if shape is not None]
    if not shapes:
        message = _("PostalCode: where %(code)s is, is not known; give Latitude and Longitude.")
        values = {"code": postal_code}
        raise Invalid.at("/Center/PostalCode", "postal_code_without_geometry", message % values)
    middle = shapely.centroid(shapely.GeometryCollection(shapes))
    return middle.y / GRID, middle.x / GRID
