"""Shapes of routes: simplified, put on a grid, and packed together by postal code.

The grid is 1/100,000 of a degree (about 1.1 m); a line is left where it strays from its simplified form by less
than 5 of these. Everything exact is computed on the grid, so what is exported and imported again is the same.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from delivery.datasets.arrays import Shapes, np, shapely

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
MULTI = {POINTS: "multipoints", LINES: "multilinestrings", POLYGONS: "multipolygons"}


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

    def select(self, routes: np.ndarray) -> Packed:
        """The shapes of these routes only."""
        of_part = np.repeat(routes, self.counts)
        of_corner = np.repeat(of_part, self.lengths & ~np.uint16(HOLE))
        return Packed(self.kinds[routes], self.counts[routes], self.lengths[of_part], self.corners[of_corner])

    def first_corners(self) -> tuple[np.ndarray, np.ndarray]:
        """Which routes have a shape, and where in `corners` each of these begins."""
        ends = np.cumsum(self.lengths & ~np.uint16(HOLE), dtype=np.int64)
        where = np.flatnonzero(self.counts)
        parts = np.cumsum(self.counts)[where] - self.counts[where]
        return where, np.concatenate((np.zeros(1, np.int64), ends))[parts]

    def near(self, box: tuple[float, float, float, float]) -> np.ndarray:
        """For each route, whether its bounding box touches this box, in degrees."""
        where, begins = self.first_corners()
        is_near = np.zeros(len(self.kinds), bool)
        if len(where):
            west, south, east, north = (side * GRID for side in box)
            low, high = np.minimum.reduceat(self.corners, begins), np.maximum.reduceat(self.corners, begins)
            is_near[where] = (
                (low[:, 0] <= east) & (high[:, 0] >= west) & (low[:, 1] <= north) & (high[:, 1] >= south)
            )
        return is_near

    def shapes(self, moved: Callable[[np.ndarray], np.ndarray] | None = None) -> Shapes:
        """One for each route, None where there is none; its corners on the grid, or `moved`."""
        corners = moved(self.corners) if moved and len(self.corners) else self.corners
        return _build_shapes(self.kinds, self.counts, self.lengths, corners)

    @property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """West, south, east and north of all of them in degrees."""
        if not len(self.corners):
            return None
        (west, south), (east, north) = self.corners.min(axis=0), self.corners.max(axis=0)
        return (float(west / GRID), float(south / GRID), float(east / GRID), float(north / GRID))


def read_areas(areas: Sequence[bytes], sizes: Sequence[int]) -> Packed:
    """The routes of all areas, one after the other; `sizes` says how many each has. An empty area has no shapes."""
    kinds, counts, lengths = [], [], []
    corners: dict[int, list[bytes]] = {2: [], 4: []}
    # For each area with shapes: the bytes of a number, its corners, and their origin.
    origins: list[tuple[int, int, int, int]] = []
    for area, size in zip(areas, sizes, strict=True):
        if not area:
            kinds.append(bytes(size))
            counts.append(bytes(2 * size))
            continue
        _, width, number, west, south = HEADER.unpack_from(area)
        begin = HEADER.size + number
        kinds.append(area[HEADER.size : begin])
        parts = area[begin : begin + 2 * number]
        counts.append(parts)
        begin += 2 * number
        end = begin + 2 * sum(struct.unpack(f"<{number}H", parts))
        lengths.append(area[begin:end])
        corners[width].append(area[end:])
        origins.append((width, (len(area) - end) // (2 * width), west, south))
    return Packed(
        np.frombuffer(b"".join(kinds), np.uint8),
        np.frombuffer(b"".join(counts), "<u2").astype(np.int64),
        np.frombuffer(b"".join(lengths), "<u2"),
        _place_corners(corners, np.array(origins, np.int64).reshape(-1, 4)),
    )


def _place_corners(corners: Mapping[int, Sequence[bytes]], origins: np.ndarray) -> np.ndarray:
    """The corners of all areas on the grid, in their order."""
    widths, sizes = origins[:, 0], origins[:, 1]
    width_of_corner = np.repeat(widths, sizes)
    positions = np.empty((len(width_of_corner), 2))
    for width, packed in corners.items():
        positions[width_of_corner == width] = np.frombuffer(b"".join(packed), f"<u{width}").reshape(-1, 2)
    positions += np.repeat(origins[:, 2:], sizes, axis=0)
    return positions


def in_degrees(shapes: Shapes) -> Shapes:
    degrees: Shapes = shapely.transform(shapes, lambda corners: corners / GRID)
    return degrees


def well_known_texts(shapes: Shapes) -> list[str]:
    """Well-known text in degrees, exactly on the grid; empty for none."""
    texts = shapely.to_wkt(in_degrees(shapes), rounding_precision=5, trim=True)
    return [text or "" for text in texts]


def on_grid(shapes: Shapes) -> Shapes:
    grid: Shapes = shapely.transform(shapes, lambda corners: np.rint(corners * GRID))
    return grid


def _build_shapes(kinds: np.ndarray, counts: np.ndarray, lengths: np.ndarray, corners: np.ndarray) -> Shapes:
    shapes = np.full(len(kinds), None, dtype=object)
    is_hole = (lengths & HOLE) > 0
    sizes = (lengths & ~np.uint16(HOLE)).astype(np.int64)
    of_route = np.repeat(np.arange(len(kinds)), counts)
    kind_of_part = kinds[of_route]
    part_of_corner = np.repeat(np.arange(len(sizes)), sizes)
    for kind, build in ((POINTS, _make_points), (LINES, _make_lines), (POLYGONS, _make_polygons)):
        matches = kind_of_part == kind
        if not matches.any():
            continue
        numbers = np.cumsum(matches) - 1
        of_corner = matches[part_of_corner]
        parts, route = build(
            corners[of_corner], numbers[part_of_corner[of_corner]], of_route[matches], is_hole[matches]
        )
        place_parts(shapes, kind, parts, route)
    return shapes


def _make_points(
    corners: np.ndarray, part: np.ndarray, route: np.ndarray, is_hole: np.ndarray
) -> tuple[Shapes, np.ndarray]:
    return shapely.points(corners), route[part]


def _make_lines(
    corners: np.ndarray, part: np.ndarray, route: np.ndarray, is_hole: np.ndarray
) -> tuple[Shapes, np.ndarray]:
    return shapely.linestrings(corners, indices=part), route


def _make_polygons(
    corners: np.ndarray, part: np.ndarray, route: np.ndarray, is_hole: np.ndarray
) -> tuple[Shapes, np.ndarray]:
    polygon = np.cumsum(~is_hole) - 1
    return shapely.polygons(shapely.linearrings(corners, indices=part), indices=polygon), route[~is_hole]


def place_parts(shapes: Shapes, kind: int, parts: Shapes, route: np.ndarray) -> None:
    """Sets the shape of each route: its only part as it is, several as one geometry."""
    counts = np.bincount(route, minlength=len(shapes))
    is_single = counts[route] == 1
    shapes[route[is_single]] = parts[is_single]
    if not is_single.all():
        is_shared = counts > 1
        numbers = np.cumsum(is_shared) - 1
        of_part = numbers[route[~is_single]]
        shapes[is_shared] = getattr(shapely, MULTI[kind])(parts[~is_single], indices=of_part)
