"""Shapes of routes: simplified, put on a grid, and packed together by postal code.

The grid is 1/100,000 of a degree (about 1.1 m); a line is left where it strays from its simplified form by less
than 5 of these. Everything exact is computed on the grid, so what is exported and imported again is the same.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely

GRID: Final = 100_000
TOLERANCE: Final = 5
MAX_CORNERS: Final = 2_000
NONE, POINTS, LINES, POLYGONS = range(4)
# In a part's length: this ring is a hole of the polygon before it.
HOLE: Final = 0x8000
HEADER = struct.Struct("<BBHii")
VERSION: Final = 1
# A route on its way from a file to a data set: kind, number of parts, their lengths (uint16) and corners (int32).
ROUTE_HEADER = struct.Struct("<BH")

POINT_TYPES, LINE_TYPES, POLYGON_TYPES = {0, 4}, {1, 2, 5}, {3, 6}

Shapes = np.ndarray[Any, np.dtype[np.object_]]


def pack_routes(geometries: Sequence[Any]) -> list[bytes | None]:
    """Each geometry in degrees as the packed shape of a route; b"" for none at all, None for one that is no route."""
    shapes = np.asarray(geometries, dtype=object)
    present = np.fromiter((shape is not None for shape in shapes), bool, len(shapes))
    good = present.copy()
    good[present] = _are_places(shapes[present])
    packed: list[bytes | None] = [b"" if not there else None for there in present]
    where = np.flatnonzero(good)
    for place, kind, lengths, corners in _parts(shapes[where]):
        if len(corners) <= MAX_CORNERS:
            header = ROUTE_HEADER.pack(kind, len(lengths))
            packed[where[place]] = header + lengths.tobytes() + corners.tobytes()
    return packed


def pack_area(routes: Sequence[bytes]) -> tuple[bytes, tuple[int, int, int, int]] | None:
    """The shapes of all routes of a postal code, in their order, and their box in steps of the grid."""
    kinds, counts, lengths, corners = [], [], [], []
    for route in routes:
        kind, parts = ROUTE_HEADER.unpack_from(route) if route else (NONE, 0)
        kinds.append(kind)
        counts.append(parts)
        if parts:
            end = ROUTE_HEADER.size + 2 * parts
            lengths.append(route[ROUTE_HEADER.size : end])
            corners.append(route[end:])
    if not corners:
        return None
    places = np.frombuffer(b"".join(corners), "<i4").reshape(-1, 2)
    west, south = (int(value) for value in places.min(axis=0))
    east, north = (int(value) for value in places.max(axis=0))
    width = 2 if max(east - west, north - south) < 1 << 16 else 4
    packed = b"".join(
        (
            HEADER.pack(VERSION, width, len(routes), west, south),
            bytes(kinds),
            np.array(counts, "<u2").tobytes(),
            *lengths,
            (places - (west, south)).astype(f"<u{width}").tobytes(),
        )
    )
    return packed, (west, south, east, north)


@dataclass(frozen=True, slots=True)
class Packed:
    """The shapes of many routes as arrays: of routes their kind and number of parts, of parts their lengths."""

    kinds: np.ndarray
    counts: np.ndarray
    lengths: np.ndarray
    corners: np.ndarray

    def taken(self, routes: np.ndarray) -> "Packed":
        """The shapes of these routes only."""
        of_part = np.repeat(routes, self.counts)
        of_corner = np.repeat(of_part, self.lengths & ~np.uint16(HOLE))
        return Packed(self.kinds[routes], self.counts[routes], self.lengths[of_part], self.corners[of_corner])

    def shapes(self, moved: Callable[[np.ndarray], np.ndarray] | None = None) -> Shapes:
        """One for each route, None where there is none; its corners on the grid, or `moved`."""
        corners = moved(self.corners) if moved and len(self.corners) else self.corners
        return _assembled(self.kinds, self.counts, self.lengths, corners)

    @property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """West, south, east and north of all of them in degrees."""
        if not len(self.corners):
            return None
        (west, south), (east, north) = self.corners.min(axis=0), self.corners.max(axis=0)
        return (float(west / GRID), float(south / GRID), float(east / GRID), float(north / GRID))


def unpack_areas(areas: Sequence[bytes], sizes: Sequence[int]) -> Shapes:
    """The geometries of all routes of all areas, one after the other, in steps of the grid; None where there is none.

    `sizes` says how many routes each area has; an empty one has no shapes.
    """
    return read_areas(areas, sizes).shapes()


def read_areas(areas: Sequence[bytes], sizes: Sequence[int]) -> Packed:
    """As `unpack_areas`, before any geometry is built."""
    kinds, counts, lengths, corners = [], [], [], []
    for area, size in zip(areas, sizes, strict=True):
        if not area:
            kinds.append(np.zeros(size, np.uint8))
            counts.append(np.zeros(size, np.int64))
            continue
        _, width, number, west, south = HEADER.unpack_from(area)
        at = HEADER.size
        kinds.append(np.frombuffer(area, np.uint8, number, at))
        parts = np.frombuffer(area, "<u2", number, at + number)
        at += 3 * number
        counts.append(parts)
        total = int(parts.sum())
        lengths.append(np.frombuffer(area, "<u2", total, at))
        places = np.frombuffer(area, f"<u{width}", -1, at + 2 * total)
        corners.append(places.reshape(-1, 2) + np.array((west, south), np.float64))
    return Packed(
        np.concatenate(kinds or [np.zeros(0, np.uint8)]),
        np.concatenate(counts or [np.zeros(0, np.int64)]).astype(np.int64),
        np.concatenate(lengths or [np.zeros(0, np.uint16)]),
        np.concatenate(corners or [np.zeros((0, 2))]),
    )


def in_degrees(shapes: Shapes) -> Shapes:
    degrees: Shapes = shapely.transform(shapes, lambda corners: corners / GRID)
    return degrees


def texts_of(shapes: Shapes) -> list[str]:
    """Well-known text in degrees, exactly on the grid; empty for none."""
    texts = shapely.to_wkt(in_degrees(shapes), rounding_precision=5, trim=True)
    return [text or "" for text in texts]


def on_grid(shapes: Shapes) -> Shapes:
    grid: Shapes = shapely.transform(shapes, lambda corners: np.rint(corners * GRID))
    return grid


def _are_places(shapes: Shapes) -> np.ndarray:
    """Points, lines or polygons with something in them, within the degrees of the earth."""
    types = shapely.get_type_id(shapes)
    bounds = shapely.bounds(shapes)
    limits = np.array((-180.0, -90.0, 180.0, 90.0))
    inside = (bounds[:, :2] >= limits[:2]).all(axis=1) & (bounds[:, 2:] <= limits[2:]).all(axis=1)
    return inside & np.isin(types, [0, 1, 2, 3, 4, 5, 6])


def _parts(shapes: Shapes) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
    """(place, kind, lengths of its parts, corners on the grid) of each."""
    shapes = on_grid(shapely.force_2d(shapes))
    types = shapely.get_type_id(shapes)
    found = []
    for kind, of_kind in ((POINTS, POINT_TYPES), (LINES, LINE_TYPES), (POLYGONS, POLYGON_TYPES)):
        where = np.flatnonzero(np.isin(types, list(of_kind)))
        if len(where):
            simpler = _simplified(kind, shapes[where])
            found += [
                (int(where[place]), kind, lengths, corners)
                for place, lengths, corners in _split(kind, simpler)
            ]
    return found


def _simplified(kind: int, shapes: Shapes) -> Shapes:
    if kind == POINTS:
        return shapes
    if kind == LINES:
        # A line that is shorter than the grid becomes a point twice, which still says where it is.
        return shapely.simplify(shapes, TOLERANCE, preserve_topology=False)
    simpler = _rings_simplified(shapes)
    odd = ~shapely.is_valid(simpler)
    if odd.any():
        simpler[odd] = shapes[odd]
        odd = ~shapely.is_valid(simpler)
    if odd.any():
        # Rounding to the grid, or the file, made it cross itself.
        repaired = shapely.transform(_polygons_of(shapely.make_valid(shapes[odd])), np.rint)
        simpler[odd] = np.where(shapely.is_valid(repaired), repaired, None)
    return simpler


def _polygons_of(shapes: Shapes) -> Shapes:
    """Of each what has an area; a polygon that has none any more is left as None."""
    merged_rings = []
    for shape in shapes:
        pieces = [
            piece for piece in shapely.get_parts([shape]) if piece.geom_type in {"Polygon", "MultiPolygon"}
        ]
        merged = shapely.union_all(pieces) if pieces else None
        merged_rings.append(merged if merged is not None and not merged.is_empty else None)
    return np.array(merged_rings, dtype=object)


def _rings_simplified(shapes: Shapes) -> Shapes:
    """Ring by ring, so that what is left are corners of before: simplified again, it stays."""
    polygons, of_shape = shapely.get_parts(shapes, return_index=True)
    rings, of_polygon = shapely.get_rings(polygons, return_index=True)
    corners, of_ring = shapely.get_coordinates(rings, return_index=True)
    lines = shapely.simplify(
        shapely.linestrings(corners, indices=of_ring), TOLERANCE, preserve_topology=False
    )
    few = shapely.get_num_coordinates(lines) < 4
    if few.any():
        whole, of_few = shapely.get_coordinates(rings[few], return_index=True)
        lines[few] = shapely.linestrings(whole, indices=of_few)
    corners, of_ring = shapely.get_coordinates(lines, return_index=True)
    rings = shapely.linearrings(corners, indices=of_ring)
    return _gathered(shapely.polygons(rings, indices=of_polygon), of_shape, len(shapes))


def _gathered(polygons: Shapes, of_shape: np.ndarray, number: int) -> Shapes:
    """One polygon as it is, several as a multipolygon."""
    gathered = np.full(number, None, dtype=object)
    counts = np.bincount(of_shape, minlength=number)
    single = counts[of_shape] == 1
    gathered[of_shape[single]] = polygons[single]
    if not single.all():
        several = np.flatnonzero(counts > 1)
        numbers = np.cumsum(counts > 1) - 1
        gathered[several] = shapely.multipolygons(polygons[~single], indices=numbers[of_shape[~single]])
    return gathered


def _split(kind: int, shapes: Shapes) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """(place, lengths, corners) of each that is not None."""
    parts, of_shape = shapely.get_parts(shapes, return_index=True)
    flags = np.zeros(len(parts), np.uint16)
    if kind == POLYGONS:
        parts, of_polygon = shapely.get_rings(parts, return_index=True)
        of_shape = of_shape[of_polygon]
        flags = np.zeros(len(parts), np.uint16)
        flags[1:][of_polygon[1:] == of_polygon[:-1]] = HOLE
    lengths = shapely.get_num_coordinates(parts)
    corners = shapely.get_coordinates(parts).astype("<i4")
    ends = np.cumsum(lengths)
    first_parts = np.searchsorted(of_shape, np.arange(len(shapes)))
    last_parts = np.searchsorted(of_shape, np.arange(len(shapes)), side="right")
    stored = np.minimum(lengths, MAX_CORNERS + 1).astype("<u2") | flags
    split = []
    for place, (start, stop) in enumerate(zip(first_parts.tolist(), last_parts.tolist(), strict=True)):
        if stop > start:
            begin = int(ends[start - 1]) if start else 0
            split.append((place, stored[start:stop], corners[begin : int(ends[stop - 1])]))
    return split


def _assembled(kinds: np.ndarray, counts: np.ndarray, lengths: np.ndarray, corners: np.ndarray) -> Shapes:
    shapes = np.full(len(kinds), None, dtype=object)
    is_hole = (lengths & HOLE) > 0
    sizes = (lengths & ~np.uint16(HOLE)).astype(np.int64)
    of_route = np.repeat(np.arange(len(kinds)), counts)
    kind_of_part = kinds[of_route]
    part_of_corner = np.repeat(np.arange(len(sizes)), sizes)
    for kind, build in ((POINTS, _points), (LINES, _lines), (POLYGONS, _polygons)):
        chosen = kind_of_part == kind
        if not chosen.any():
            continue
        numbers = np.cumsum(chosen) - 1
        of_corner = chosen[part_of_corner]
        parts, route = build(
            corners[of_corner], numbers[part_of_corner[of_corner]], of_route[chosen], is_hole[chosen]
        )
        _place(shapes, kind, parts, route)
    return shapes


def _points(
    corners: np.ndarray, part: np.ndarray, route: np.ndarray, is_hole: np.ndarray
) -> tuple[Shapes, np.ndarray]:
    return shapely.points(corners), route[part]


def _lines(
    corners: np.ndarray, part: np.ndarray, route: np.ndarray, is_hole: np.ndarray
) -> tuple[Shapes, np.ndarray]:
    return shapely.linestrings(corners, indices=part), route


def _polygons(
    corners: np.ndarray, part: np.ndarray, route: np.ndarray, is_hole: np.ndarray
) -> tuple[Shapes, np.ndarray]:
    polygon = np.cumsum(~is_hole) - 1
    return shapely.polygons(shapely.linearrings(corners, indices=part), indices=polygon), route[~is_hole]


MULTI = {POINTS: shapely.multipoints, LINES: shapely.multilinestrings, POLYGONS: shapely.multipolygons}


def _place(shapes: Shapes, kind: int, parts: Shapes, route: np.ndarray) -> None:
    counts = np.bincount(route, minlength=len(shapes))
    single = counts[route] == 1
    shapes[route[single]] = parts[single]
    if not single.all():
        several = counts > 1
        numbers = np.cumsum(several) - 1
        shapes[several] = MULTI[kind](parts[~single], indices=numbers[route[~single]])
