"""Packs the shapes of routes on their way from a file to a data set; `shapes` has the format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from delivery.datasets.arrays import Shapes, np, shapely
from delivery.datasets.shapes import (
    HOLE,
    LINES,
    MAX_CORNERS,
    POINTS,
    POLYGONS,
    ROUTE_HEADER,
    TOLERANCE,
    on_grid,
    place_parts,
)

POINT_TYPES, LINE_TYPES, POLYGON_TYPES = {0, 4}, {1, 2, 5}, {3, 6}


def pack_routes(geometries: Sequence[Any]) -> list[bytes | None]:
    """Each geometry in degrees as the packed shape of a route; b"" for none at all, None for one that is no route."""
    shapes = np.empty(len(geometries), dtype=object)
    shapes[:] = geometries
    present = ~shapely.is_missing(shapes)
    packed = np.full(len(shapes), b"", dtype=object)
    packed[present] = None
    where = np.flatnonzero(present)
    where = where[_are_places(shapes[where])]
    for position, kind, lengths, corners in _list_parts(shapes[where]):
        if len(corners) <= MAX_CORNERS:
            header = ROUTE_HEADER.pack(kind, len(lengths))
            packed[where[position]] = header + lengths.tobytes() + corners.tobytes()
    routes: list[bytes | None] = packed.tolist()
    return routes


def _are_places(shapes: Shapes) -> np.ndarray:
    """Non-empty points, lines or polygons with valid coordinates."""
    types = shapely.get_type_id(shapes)
    bounds = shapely.bounds(shapes)
    limits = np.array((-180.0, -90.0, 180.0, 90.0))
    inside = (bounds[:, :2] >= limits[:2]).all(axis=1) & (bounds[:, 2:] <= limits[2:]).all(axis=1)
    return inside & np.isin(types, [0, 1, 2, 3, 4, 5, 6])


def _list_parts(shapes: Shapes) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
    """(position, kind, lengths of its parts, corners on the grid) of each."""
    shapes = on_grid(shapely.force_2d(shapes))
    types = shapely.get_type_id(shapes)
    parts = []
    for kind, of_kind in ((POINTS, POINT_TYPES), (LINES, LINE_TYPES), (POLYGONS, POLYGON_TYPES)):
        where = np.flatnonzero(np.isin(types, list(of_kind)))
        if len(where):
            simpler = _simplify_shapes(kind, shapes[where])
            parts += [
                (int(where[position]), kind, lengths, corners)
                for position, lengths, corners in _split_shapes(kind, simpler)
            ]
    return parts


def _simplify_shapes(kind: int, shapes: Shapes) -> Shapes:
    if kind == POINTS:
        return shapes
    if kind == LINES:
        # A line that is shorter than the grid becomes a point twice, which still says where it is.
        return shapely.simplify(shapes, TOLERANCE, preserve_topology=False)
    simpler = _rings_simplified(shapes)
    invalid = np.flatnonzero(~shapely.is_valid(simpler))
    simpler[invalid] = shapes[invalid]
    invalid = invalid[~shapely.is_valid(simpler[invalid])]
    if len(invalid):
        # Rounding to the grid, or the file, made it cross itself.
        repaired = shapely.transform(_polygons_of(shapely.make_valid(shapes[invalid])), np.rint)
        simpler[invalid] = np.where(shapely.is_valid(repaired), repaired, None)
    return simpler


def _polygons_of(shapes: Shapes) -> Shapes:
    """The parts with an area; None for a polygon without any."""
    polygons = []
    for shape in shapes:
        pieces = [
            piece for piece in shapely.get_parts([shape]) if piece.geom_type in {"Polygon", "MultiPolygon"}
        ]
        merged = shapely.union_all(pieces) if pieces else None
        polygons.append(merged if merged is not None and not merged.is_empty else None)
    return np.array(polygons, dtype=object)


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
        original_corners, of_original = shapely.get_coordinates(rings[few], return_index=True)
        lines[few] = shapely.linestrings(original_corners, indices=of_original)
    corners, of_ring = shapely.get_coordinates(lines, return_index=True)
    rings = shapely.linearrings(corners, indices=of_ring)
    simplified = np.full(len(shapes), None, dtype=object)
    place_parts(simplified, POLYGONS, shapely.polygons(rings, indices=of_polygon), of_shape)
    return simplified


def _split_shapes(kind: int, shapes: Shapes) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """(position, lengths, corners) of each that is not None."""
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
    split_shapes = []
    for position, (start, stop) in enumerate(zip(first_parts.tolist(), last_parts.tolist(), strict=True)):
        if stop > start:
            begin = int(ends[start - 1]) if start else 0
            split_shapes.append((position, stored[start:stop], corners[begin : int(ends[stop - 1])]))
    return split_shapes
