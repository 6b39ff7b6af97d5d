"""Packs the shapes of routes on their way from a file to a data set; `shapes` has the format.

Points and polygons of one ring are by far the most frequent, so arrays of them are packed at once. Other shapes, and
those that cross themselves, are packed by the general functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from delivery.datasets.arrays import Shapes, np, shapely
from delivery.datasets.shapes import (
    GRID,
    HOLE,
    LINES,
    MAX_CORNERS,
    POINTS,
    POLYGONS,
    ROUTE_HEADER,
    TOLERANCE,
    on_grid,
)

POINT_TYPES, LINE_TYPES, POLYGON_TYPES = {0, 4}, {1, 2, 5}, {3, 6}
POINT, POLYGON = 0, 3
# A header with the length of its one part.
HEAD = [("kind", "u1"), ("parts", "<u2"), ("length", "<u2")]
CORNER_BYTES = 8


def pack_routes(geometries: Sequence[Any]) -> list[bytes | None]:
    """Each geometry in degrees as the packed shape of a route; b"" for none at all, None for one that is no route."""
    shapes = np.empty(len(geometries), dtype=object)
    shapes[:] = geometries
    present = ~shapely.is_missing(shapes)
    packed = np.full(len(shapes), b"", dtype=object)
    packed[present] = None
    good = present.copy()
    good[present] = _are_places(shapes[present])
    types = shapely.get_type_id(shapes)
    outlines = (types == POLYGON) & (shapely.get_num_interior_rings(shapes) == 0)
    for chosen, pack in ((types == POINT, _packed_points), (outlines, _packed_outlines)):
        where = np.flatnonzero(chosen & good)
        if len(where):
            for at, shape in zip(where.tolist(), pack(shapes[where]), strict=True):
                packed[at] = shape
    left = np.flatnonzero(good & shapely.is_missing(packed))
    for place, kind, lengths, corners in _parts(shapes[left]):
        if len(corners) <= MAX_CORNERS:
            header = ROUTE_HEADER.pack(kind, len(lengths))
            packed[left[place]] = header + lengths.tobytes() + corners.tobytes()
    found: list[bytes | None] = packed.tolist()
    return found


def _packed_points(points: Shapes) -> Iterator[bytes]:
    corners = np.rint(shapely.get_coordinates(points) * GRID)
    return _pack_single_parts(POINTS, np.ones(len(points), np.int64), corners)


def _packed_outlines(polygons: Shapes) -> list[bytes | None]:
    """None for a polygon that needs the general functions."""
    corners, of_ring = shapely.get_coordinates(polygons, return_index=True)
    lines = shapely.simplify(
        shapely.linestrings(np.rint(corners * GRID), indices=of_ring), TOLERANCE, preserve_topology=False
    )
    lengths = shapely.get_num_coordinates(lines)
    easy = (lengths >= 4) & (lengths <= MAX_CORNERS)
    corners, of_ring = shapely.get_coordinates(lines[easy], return_index=True)
    valid = shapely.is_valid(shapely.polygons(shapely.linearrings(corners, indices=of_ring)))
    packed: list[bytes | None] = [None] * len(polygons)
    every = _pack_single_parts(POLYGONS, lengths[easy], corners)
    for at, shape, is_valid in zip(np.flatnonzero(easy).tolist(), every, valid.tolist(), strict=True):
        if is_valid:
            packed[at] = shape
    return packed


def _pack_single_parts(kind: int, lengths: np.ndarray, corners: np.ndarray) -> Iterator[bytes]:
    """Routes of one part each, whose corners follow one another."""
    heads = np.zeros(len(lengths), head_type := np.dtype(HEAD))
    heads["kind"], heads["parts"], heads["length"] = kind, 1, lengths
    head, raw, size = heads.tobytes(), corners.astype("<i4").tobytes(), head_type.itemsize
    begin = 0
    for number, end in enumerate((np.cumsum(lengths) * CORNER_BYTES).tolist()):
        yield head[number * size : (number + 1) * size] + raw[begin:end]
        begin = end


def _are_places(shapes: Shapes) -> np.ndarray:
    """Non-empty points, lines or polygons with valid coordinates."""
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
            simpler = _simplify_shapes(kind, shapes[where])
            found += [
                (int(where[place]), kind, lengths, corners)
                for place, lengths, corners in _split(kind, simpler)
            ]
    return found


def _simplify_shapes(kind: int, shapes: Shapes) -> Shapes:
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
    """The parts with an area; None for a polygon without any."""
    kept = []
    for shape in shapes:
        pieces = [
            piece for piece in shapely.get_parts([shape]) if piece.geom_type in {"Polygon", "MultiPolygon"}
        ]
        merged = shapely.union_all(pieces) if pieces else None
        kept.append(merged if merged is not None and not merged.is_empty else None)
    return np.array(kept, dtype=object)


def _rings_simplified(shapes: Shapes) -> Shapes:
    """Simplified ring by ring, so that all corners are original ones and a second pass changes nothing."""
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
    return _gather_polygons(shapely.polygons(rings, indices=of_polygon), of_shape, len(shapes))


def _gather_polygons(polygons: Shapes, of_shape: np.ndarray, number: int) -> Shapes:
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
