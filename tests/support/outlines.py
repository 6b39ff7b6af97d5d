"""Makes static/delivery/outlines.json of `counties-10m.json` of the npm package us-atlas, which is in the public domain
by its source, the Census Bureau: `python -m tests.support.outlines counties-10m.json OUT`.

The borders of states and counties as lines, simplified to 0.003 degrees on a grid of 0.001, as a start and steps.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import shapely

GRID, TOLERANCE = 1000, 3


def main(source: Path, target: Path) -> None:
    atlas = json.loads(source.read_text())
    arcs = [_line(arc, atlas["transform"]) for arc in atlas["arcs"]]
    states = _arcs_of(atlas["objects"]["states"])
    counties = _arcs_of(atlas["objects"]["counties"]) - states
    lines = {"states": _packed(arcs, states), "counties": _packed(arcs, counties)}
    target.write_text(json.dumps({"grid": GRID, **lines}, separators=(",", ":")) + "\n")


def _line(arc: list[list[int]], transform: dict[str, list[float]]) -> Any:
    steps = np.cumsum(np.array(arc, float), axis=0) * transform["scale"] + transform["translate"]
    line = shapely.LineString(np.rint(steps * GRID))
    return shapely.simplify(line, TOLERANCE, preserve_topology=False)


def _arcs_of(found: dict[str, Any]) -> set[int]:
    arcs: set[int] = set()

    def walk(item: Any) -> None:
        if isinstance(item, int):
            arcs.add(item if item >= 0 else ~item)
        else:
            for one in item:
                walk(one)

    for geometry in found["geometries"]:
        walk(geometry.get("arcs", []))
    return arcs


def _packed(arcs: list[Any], chosen: set[int]) -> list[list[int]]:
    """By tiles of 4 degrees, so that a map passes over what is not in view."""
    tiles = defaultdict(list)
    for number in sorted(chosen):
        corners = shapely.get_coordinates(arcs[number]).astype(int)
        if len(corners) < 2 or (corners == corners[0]).all():
            continue
        steps = np.vstack([corners[:1], np.diff(corners, axis=0)])
        tiles[tuple(corners[0] // (4 * GRID))].append(steps.ravel().tolist())
    return [lines for _, lines in sorted(tiles.items())]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
