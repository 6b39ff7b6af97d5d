"""Where routes run: simplified, put on a grid and packed, a postal code's routes together.

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
MOST_CORNERS: Final = 2_000
NONE, POINTS, LINES, POLYGONS = range(4)
# In a part's length: this ring is a hole of the polygon before it.
HOLE: Final = 0x8000
HEADER = struct.Struct("<BBHii")
VERSION: Final = 1
# A route on its way from a file to a data set: kind, number of parts, their lengths (uint16) and corners (int32).
ROUTE_HEADER = struct.Struct("<BH")

Shapes = np.ndarray[Any, np.dtype[np.object_]]


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

    def taken(self, wanted: np.ndarray) -> "Packed":
        """Of these routes alone."""
        of_part = np.repeat(wanted, self.counts)
        of_corner = np.repeat(of_part, self.lengths & ~np.uint16(HOLE))
        return Packed(self.kinds[wanted], self.counts[wanted], self.lengths[of_part], self.corners[of_corner])

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
