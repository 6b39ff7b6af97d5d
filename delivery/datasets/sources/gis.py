"""Reads saved responses of the USPS map service: one, several in sequence, or an array of them."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import ijson

from delivery.datasets.details import Details, make_shape
from delivery.datasets.problems import FileRefused, ProblemLog
from delivery.datasets.sources.cells import Columns, DetailedRow, Source, find_columns, is_complete

MAX_DEPTH = 64
# The limit between two events of the parser, which holds names, texts and numbers in memory.
MAX_TOKEN_LENGTH = 1 << 20
MAX_ATTRIBUTES = 500
MAX_NAME_LENGTH = 200
MAX_VALUE_LENGTH = 1000
# The limit of distinct attribute lists; a file has only a few.
MAX_CACHED_SHAPES = 100
OPENING, CLOSING = frozenset({"start_map", "start_array"}), frozenset({"end_map", "end_array"})


MAX_CORNERS = 100_000
Part = list[list[float]]
_FIELDS = ("zip", "route", "residential", "business", "total", "income", "age", "household", "facility")
SHAPE_KINDS = frozenset({"paths", "rings", "points"})


class Geometry:
    """Collects the paths, rings or points of a feature."""

    def __init__(self) -> None:
        self.parts: dict[str, list[Part]] = {}
        self.corners = 0

    def open(self, kind: str, depth: int) -> None:
        """Starts an array: of parts, of corners, or a corner."""
        if kind not in SHAPE_KINDS:
            return
        parts = self.parts.setdefault(kind, [])
        if kind == "points":
            depth += 1
        if depth == 2:
            parts.append([])
        elif depth == 3 and parts:
            self._corner(parts[-1], [])

    def add(self, kind: str, value: float) -> None:
        if kind in SHAPE_KINDS:
            parts = self.parts.get(kind)
            # Numbers after longitude and latitude are height and measure.
            if parts and parts[-1] and len(parts[-1][-1]) < 2:
                parts[-1][-1].append(float(value))
        elif kind == "x":
            self._corner(self.parts.setdefault("points", [[]])[-1], [float(value)])
        elif kind == "y" and self.parts.get("points"):
            self.parts["points"][-1][-1].append(float(value))

    def _corner(self, part: Part, corner: list[float]) -> None:
        part.append(corner)
        self.corners += 1
        if self.corners > MAX_CORNERS:
            raise FileRefused(f"A feature has more than {MAX_CORNERS:,} corners, so it is not a route.")


Feature = tuple[dict[str, str], dict[str, list[Part]]]


def read_gis(stream: BinaryIO, chosen: Mapping[str, str], log: ProblemLog) -> Source:
    """Features are counted from 1 in place of lines."""
    features = _features(stream)
    try:
        first = next(features, None)
    except ijson.JSONError as error:
        raise _broken(error) from error
    if first is None:
        raise FileRefused("The JSON contains no routes (no features with attributes).")
    names = list(first[0])
    columns = _columns(names, chosen)
    log.columns = {field: names[index] for field, index in columns.items()}
    return Source(
        format="gis-json",
        header=names,
        columns=columns,
        rows=_rows(first, features, chosen),
        # Later features may have attributes that the first one lacks.
        details=Details(),
    )


class _Bounded:
    """Refuses a file with an endless name, text or number."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.since_event = stream, 0

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.since_event += len(data)
        if self.since_event > MAX_TOKEN_LENGTH:
            raise FileRefused(
                f"A name, text or number in the JSON is longer than {MAX_TOKEN_LENGTH:,} bytes."
            )
        return data


def _features(stream: BinaryIO) -> Iterator[Feature]:
    bounded = _Bounded(stream)
    position = _Position()
    for event, value in ijson.basic_parse(bounded, use_float=True, multiple_values=True):
        bounded.since_event = 0
        if event in OPENING:
            position.open(event)
        elif event in CLOSING:
            feature = position.close()
            if feature is not None:
                yield feature
        elif event == "map_key":
            position.names[-1] = value[: MAX_NAME_LENGTH + 1]
        else:
            position.take(event, value)


class _Position:
    """Where in the file the parser is, and the feature it is in.

    Only the names that lead there are kept, never the path: a new path for every level costs the square of the depth.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        # The nesting depth of the current feature; 0 outside of one.
        self.depth = 0
        self.attributes: dict[str, str] | None = None
        self.geometry: Geometry | None = None

    def open(self, event: str) -> None:
        names, depth = self.names, self.depth
        if event == "start_map":
            if not depth and names[-2:] == ["features", ""]:
                self.depth = len(names)
            elif depth and len(names) == depth + 1 and names[-1] == "attributes":
                self.attributes = {}
            elif depth and len(names) == depth + 1 and names[-1] == "geometry":
                self.geometry = Geometry()
        elif self.geometry is not None and names[depth] == "geometry":
            self.geometry.open(names[depth + 1], len(names) - depth - 1)
        names.append("")
        if len(names) > MAX_DEPTH:
            raise FileRefused(
                f"The JSON is nested deeper than {MAX_DEPTH} levels, so this is not a file of routes."
            )

    def close(self) -> Feature | None:
        """The feature that ends here, if it has attributes."""
        self.names.pop()
        if not self.depth or len(self.names) != self.depth:
            return None
        attributes, geometry = self.attributes, self.geometry
        self.attributes, self.geometry, self.depth = None, None, 0
        return None if attributes is None else (attributes, geometry.parts if geometry else {})

    def take(self, event: str, value: Any) -> None:
        names, depth = self.names, self.depth
        if self.geometry is not None and names[depth] == "geometry":
            if event == "number":
                self.geometry.add(names[depth + 1], value)
        elif self.attributes is not None and names[depth:-1] == ["attributes"]:
            _add_attribute(self.attributes, names[-1], value)
        elif event == "string" and names[-2:] == ["error", "message"]:
            raise FileRefused(
                f"The map service responded with an error: {value[:200]}. Fetch the file again."
            )


def _add_attribute(attributes: dict[str, str], name: str, value: Any) -> None:
    if len(name) > MAX_NAME_LENGTH:
        raise FileRefused(f"An attribute's name is longer than {MAX_NAME_LENGTH} characters: {name[:60]!r}…")
    attributes[name] = "" if value is None else str(value)[:MAX_VALUE_LENGTH]
    if len(attributes) > MAX_ATTRIBUTES:
        raise FileRefused(
            f"A feature has more than {MAX_ATTRIBUTES} attributes, so this is not a file of routes."
        )


def _rows(first: Feature, features: Iterator[Feature], chosen: Mapping[str, str]) -> Iterator[DetailedRow]:
    seen: dict[tuple[str, ...], list[int | None]] = {}
    number = 1
    feature: Feature | None = first
    try:
        while feature is not None:
            attributes, parts = feature
            names = tuple(attributes)
            if names not in seen:
                if len(seen) >= MAX_CACHED_SHAPES:
                    seen.clear()
                columns = _columns(list(names), chosen)
                seen[names] = [columns.get(field) for field in _FIELDS]
            cells = (*attributes.values(),)
            zip_code, route, residential, business, total, income, age, household, facility = (
                "" if index is None else cells[index] for index in seen[names]
            )
            details = (_shape(parts), income, age, household, facility)
            yield number, zip_code, route, residential, business, total, details
            number, feature = number + 1, next(features, None)
    except ijson.JSONError as error:
        raise _broken(error, number) from error


def _shape(parts: dict[str, list[Part]]) -> Any:
    """Corners without both numbers are left out."""
    whole = {
        kind: [[c for c in part if len(c) == 2] for part in kind_parts] for kind, kind_parts in parts.items()
    }
    return make_shape(whole) if whole else None


def _columns(names: list[str], chosen: Mapping[str, str]) -> Columns:
    columns = find_columns(names, chosen)
    if not is_complete(columns):
        listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
        raise FileRefused(f"The features have no route or no counts; their attributes: {listed}.")
    return columns


def _broken(error: Exception, number: int = 0) -> FileRefused:
    where = f" after feature {number}" if number else ""
    return FileRefused(f"The JSON is broken or cut off{where}: {str(error).splitlines()[0][:120]}.")
