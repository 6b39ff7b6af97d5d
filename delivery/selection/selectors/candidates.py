"""The routes that an area or a list of postal codes may select, read a postal code at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import shapely

from delivery.datasets.details import Facts, facts_of
from delivery.datasets.selectors.datasets import active_dataset
from delivery.datasets.shapes import GRID, Packed, in_degrees, read_areas
from delivery.selection.criteria import MAX_AREAS, Box
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


@dataclass
class Candidates:
    """Routes of some postal codes, each of a type that may be selected; all arrays are by route."""

    postal_codes: list[str]
    routes: list[str]
    residential: np.ndarray
    business: np.ndarray
    packed: Packed
    # Of the postal codes: their facts as stored, and of each route which postal code and which place in it.
    _facts: list[str | None]
    _row: list[int]
    _place: list[int]
    known_codes: frozenset[str]

    def __len__(self) -> int:
        return len(self.routes)

    @property
    def codes(self) -> list[str]:
        """As `84101C001`."""
        return [code + route for code, route in zip(self.postal_codes, self.routes, strict=True)]

    def facts(self, chosen: Sequence[int] | np.ndarray) -> Iterator[Facts]:
        """Of the routes of these places, in their order."""
        read: dict[int, list[Facts]] = {}
        for at in chosen:
            row = self._row[at]
            text = self._facts[row]
            if text is None:
                yield NO_FACTS
                continue
            if row not in read:
                read[row] = facts_of(text)
            yield read[row][self._place[at]]


NO_FACTS = Facts()


def candidates_by_code(dataset_id: int, postal_codes: Sequence[str], types: str) -> Candidates:
    return _gathered(fetch_rows(BY_CODE, (",".join(postal_codes), dataset_id, dataset_id)), types)


def candidates_by_box(dataset_id: int, box: Box, types: str, pointer: str) -> Candidates:
    """The routes of postal codes that may overlap the box, which is in degrees."""
    west, south, east, north = (value * GRID for value in box)
    rows = fetch_rows(BY_BOX, (west, south, east, north, dataset_id, MAX_AREAS + 1))
    if len(rows) > MAX_AREAS:
        message = f"The area covers more than {MAX_AREAS:,} postal codes; choose a smaller one."
        raise Invalid.at(pointer, "area_too_large", message)
    return _gathered(rows, types)


def _gathered(rows: Sequence[tuple[str, str, bytes | None, str | None]], types: str) -> Candidates:
    postal_codes, routes, residential, business = [], [], [], []
    is_eligible, sizes, of_row, places = [], [], [], []
    for number, (code, text, _, _) in enumerate(rows):
        parts = text.split(",") if text else []
        sizes.append(len(parts))
        for place, part in enumerate(parts):
            if part[0] in types:
                route, homes, firms = part.split(" ")
                postal_codes.append(code)
                routes.append(route)
                residential.append(int(homes))
                business.append(int(firms))
                of_row.append(number)
                places.append(place)
                is_eligible.append(True)
            else:
                is_eligible.append(False)
    packed = read_areas([bytes(row[2] or b"") for row in rows], sizes)
    return Candidates(
        postal_codes,
        routes,
        np.array(residential, np.int64),
        np.array(business, np.int64),
        packed.taken(np.array(is_eligible, bool)),
        [row[3] for row in rows],
        of_row,
        places,
        frozenset(row[0] for row in rows),
    )


def routes_in_view(box: Box) -> tuple[Candidates, np.ndarray]:
    """The routes of the active data set whose shapes touch a box of degrees, and their shapes in degrees.

    Too many to draw are refused.
    """
    dataset = active_dataset()
    found = candidates_by_box(dataset.pk, box, dataset.route_types, "")
    seen = shapely.box(*(value * GRID for value in box))
    shapely.prepare(seen)
    shapes = found.packed.shapes()
    shapes[~shapely.intersects(seen, shapes)] = None
    if sum(shape is not None for shape in shapes) > MAX_DRAWN:
        raise Invalid("There are too many routes in view; look closer.", code="too_many_routes")
    return found, in_degrees(shapes)
