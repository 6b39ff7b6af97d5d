"""Details of routes in addition to their counts: shape, demographics and post office.

In memory a route's details are one `bytes`, because a national set has 657,000 routes; stored, those of a postal code
are one row.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from delivery.datasets.arrays import np, shapely
from delivery.datasets.packing import pack_routes
from delivery.datasets.problems import ProblemLog
from delivery.datasets.shapes import pack_area

# Income in dollars, age in tenths of a year, household in hundredths of a person; 0 if unknown. Then
# the number of the post office's name.
FACTS = struct.Struct("<IHHI")
NUMBER = re.compile(r"\$? ?([0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3}){1,2})(\.[0-9]{1,12})?")
MAX_FACILITY_LENGTH = 80
# geometry (WKT or a shape), median income, median age, household size, post office: as written in the file.
RawDetails = tuple[Any, str, str, str, str]
NO_DETAILS = FACTS.pack(0, 0, 0, 0)


class Facts(NamedTuple):
    """Demographics of a route; None where the source has no value."""

    income: int | None = None
    age: float | None = None
    household: float | None = None
    facility: str = ""


@dataclass
class Details:
    """The details of a file's routes, by postal code and route."""

    routes: dict[str, dict[str, bytes]] = field(default_factory=dict)
    facilities: dict[str, int] = field(default_factory=dict)
    _names: list[str] = field(default_factory=list)
    shape_count: int = 0
    _waiting: list[tuple[int, str, str, bytes, Any]] = field(default_factory=list)

    def add(self, line: int, postal_code: str, route: str, raw: RawDetails, log: ProblemLog) -> None:
        geometry, income, age, household, facility = raw
        dollars = scale_measure(income, 1, 10_000_000)
        tenths = scale_measure(age, 10, 1_200)
        hundredths = scale_measure(household, 100, 10_000)
        if dollars < 0 or tenths < 0 or hundredths < 0:
            cells = (("income", dollars, income), ("age", tenths, age), ("household", hundredths, household))
            for name, value, cell in cells:
                if value < 0:
                    log.add(line, name, cell, "W_DETAIL")
            dollars, tenths, hundredths = max(dollars, 0), max(tenths, 0), max(hundredths, 0)
        name = _read_office(facility)
        number = self.facilities.setdefault(name, len(self._names))
        if number == len(self._names):
            self._names.append(name)
        facts = FACTS.pack(dollars, tenths, hundredths, number)
        self._waiting.append((line, postal_code, route, facts, geometry or None))

    def pack(self, log: ProblemLog) -> None:
        """Packs the details added since the last call."""
        shapes = pack_routes(_parse_geometries([entry[4] for entry in self._waiting]))
        for (line, postal_code, route, facts, geometry), shape in zip(self._waiting, shapes, strict=True):
            if shape is None or (geometry is not None and not shape):
                log.add(line, "geometry", geometry if isinstance(geometry, str) else "", "W_GEOMETRY")
            self.shape_count += bool(shape)
            self.routes.setdefault(postal_code, {})[route] = facts + (shape or b"")
        self._waiting.clear()

    def area(self, postal_code: str, routes: Sequence[str]) -> tuple[str, bytes | None, Any, int]:
        """The stored form of a postal code: its facts, shapes, their box and how many routes have one."""
        details_by_route = self.routes.get(postal_code, {})
        packed = [details_by_route.get(route, NO_DETAILS) for route in routes]
        facilities: dict[str, int] = {}
        facts = []
        for route in packed:
            income, age, household, number = FACTS.unpack_from(route)
            office = facilities.setdefault(self._names[number] if self._names else "", len(facilities))
            facts.append([income, age, household, office])
        shapes = [route[FACTS.size :] for route in packed]
        area = pack_area(shapes)
        text = orjson.dumps([list(facilities), facts]).decode()
        return text, *(area or (None, None)), sum(map(bool, shapes))


def parse_facts(text: str) -> list[Facts]:
    """The facts of each route of a postal code, in the order of its routes."""
    facilities, rows = orjson.loads(text)
    return [facts_from_row(facilities, row) for row in rows]


def facts_from_row(facilities: Sequence[str], row: Sequence[int]) -> Facts:
    income, age, household, office = row
    return Facts(income or None, age / 10 or None, household / 100 or None, facilities[office])


def _parse_geometries(geometries: Sequence[Any]) -> list[Any]:
    texts = [index for index, geometry in enumerate(geometries) if isinstance(geometry, str)]
    parsed = list(geometries)
    if texts:
        shapes = shapely.from_wkt(
            np.array([geometries[index].strip().strip('"') for index in texts], dtype=object),
            on_invalid="ignore",
        )
        for index, shape in zip(texts, shapes, strict=True):
            parsed[index] = shape
    return parsed


@lru_cache(maxsize=65_536)
def _read_office(cell: str) -> str:
    name = " ".join(cell.split())[:MAX_FACILITY_LENGTH]
    return name if name.isprintable() else ""


@lru_cache(maxsize=65_536)
def scale_measure(cell: str, scale: int, most: int) -> int:
    """-1 for an implausible number."""
    value, is_number = read_measure(cell)
    scaled = round(value * scale)
    return scaled if is_number and scaled <= most else -1


def read_measure(cell: str) -> tuple[float, bool]:
    """0 for an empty cell, a dash, and the negative numbers that stand for unknown in census tables."""
    text = cell.strip()
    if not text or text.startswith(("-", "\N{EN DASH}", "\N{EM DASH}")):
        return 0.0, True
    match = NUMBER.fullmatch(text)
    return (float(match[1].replace(",", "") + (match[2] or "")), True) if match else (0.0, False)


def make_shape(parts: Mapping[str, Sequence[Sequence[Sequence[float]]]]) -> Any:
    """The shape of the map service's paths, rings or points; None for one without enough corners."""
    points = [point for part in parts.get("points", ()) for point in part]
    paths = [path for path in parts.get("paths", ()) if len(path) > 1]
    rings = [shapely.LinearRing(ring) for ring in parts.get("rings", ()) if len(ring) > 2]
    if paths:
        return shapely.MultiLineString(paths)
    if rings:
        return _group_polygons(rings)
    return shapely.MultiPoint(points) if points else None


def _group_polygons(rings: list[Any]) -> Any:
    """Clockwise rings are outlines, the others holes of the outline around them."""
    outlines = [ring for ring in rings if not ring.is_ccw] or rings
    holes = [ring for ring in rings if ring not in outlines]
    polygons = []
    for outline in outlines:
        area = shapely.Polygon(outline)
        own_holes = [hole for hole in holes if area.contains(shapely.Point(hole.coords[0]))]
        polygons.append(shapely.Polygon(outline, own_holes))
    return shapely.MultiPolygon(polygons)
