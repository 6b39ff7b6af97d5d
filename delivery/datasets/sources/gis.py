"""Reads saved responses of the USPS map service: one, several in sequence, or an array of them."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import ijson
from ijson.common import ObjectBuilder

from delivery.datasets.details import Details, make_shape
from delivery.datasets.problems import BadRouteFile, ProblemLog
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
# An array of longitude, latitude, height and measure.
SIZE_OF_A_CORNER = 5
# The names of a feature's other members: those of its geometry, for example.
OTHER_NAMES = 20
Part = list[list[float]]
Feature = tuple[dict[str, str], dict[str, list[Part]]]
_FIELDS = ("zip", "route", "residential", "business", "total", "income", "age", "household", "facility")
SHAPE_KINDS = ("paths", "rings", "points")


def read_gis(stream: BinaryIO, choices: Mapping[str, str], log: ProblemLog) -> Source:
    """Features are counted from 1 in place of lines."""
    features = _read_features(stream)
    try:
        first = next(features, None)
    except ijson.JSONError as error:
        raise _describe_break(error) from error
    if first is None:
        raise BadRouteFile("The JSON contains no routes (no features with attributes).")
    names = list(first[0])
    columns = _find_columns(names, choices)
    log.columns = {field: names[index] for field, index in columns.items()}
    return Source(
        format="gis-json",
        header=names,
        columns=columns,
        rows=_read_rows(first, features, choices),
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
            raise BadRouteFile(
                f"A name, text or number in the JSON is longer than {MAX_TOKEN_LENGTH:,} bytes."
            )
        return data


def _read_features(stream: BinaryIO) -> Iterator[Feature]:
    bounded = _Bounded(stream)
    # The names of the members that lead to the parser's position, "" for an array. A new path for each level, as
    # ijson.parse makes, would cost the square of the depth.
    names: list[str] = []
    feature: _Feature | None = None
    depth = 0
    for event, value in ijson.basic_parse(bounded, use_float=True, multiple_values=True):
        bounded.since_event = 0
        if event == "start_map" and feature is None and names[-2:] == ["features", ""]:
            feature, depth = _Feature(), len(names)
        _follow_names(names, event, value)
        if feature is None:
            if event == "string" and names[-2:] == ["error", "message"]:
                raise BadRouteFile(
                    f"The map service responded with an error: {value[:200]}. Fetch the file again."
                )
            continue
        feature.add(event, value)
        if len(names) == depth:
            if (attributes := feature.attributes) is not None:
                yield attributes, feature.parts
            feature = None


def _follow_names(names: list[str], event: str, value: Any) -> None:
    if event == "map_key":
        names[-1] = value[: MAX_NAME_LENGTH + 1]
    elif event in CLOSING:
        names.pop()
    elif event in OPENING:
        names.append("")
        if len(names) > MAX_DEPTH:
            raise BadRouteFile(
                f"The JSON is nested deeper than {MAX_DEPTH} levels, so this is not a file of routes."
            )


class _Feature:
    """Builds a feature from the events of the parser, and limits its size."""

    def __init__(self) -> None:
        self.builder = ObjectBuilder()
        self.names = self.size = 0

    def add(self, event: str, value: Any) -> None:
        if event == "map_key":
            self.names += 1
            if len(value) > MAX_NAME_LENGTH:
                raise BadRouteFile(
                    f"An attribute's name is longer than {MAX_NAME_LENGTH} characters: {value[:60]!r}…"
                )
            if self.names > MAX_ATTRIBUTES + OTHER_NAMES:
                raise BadRouteFile(
                    f"A feature has more than {MAX_ATTRIBUTES} attributes, so this is not a file of routes."
                )
        elif event not in CLOSING:
            value = value[:MAX_VALUE_LENGTH] if event == "string" else value
            self.size += len(value) if event == "string" else 1
            if self.size > SIZE_OF_A_CORNER * MAX_CORNERS:
                raise BadRouteFile(f"A feature has more than {MAX_CORNERS:,} corners, so it is not a route.")
        self.builder.event(event, value)

    @property
    def attributes(self) -> dict[str, str] | None:
        attributes = self.builder.value.get("attributes")
        if not isinstance(attributes, dict):
            return None
        return {
            name: "" if value is None else str(value)
            for name, value in attributes.items()
            if not isinstance(value, dict | list)
        }

    @property
    def parts(self) -> dict[str, list[Part]]:
        """Paths, rings and points; corners without two numbers are left out."""
        geometry = self.builder.value.get("geometry")
        geometry = dict(geometry) if isinstance(geometry, dict) else {}
        if "x" in geometry:
            geometry["points"] = [[geometry["x"], geometry.get("y")]]
        if "points" in geometry:
            geometry["points"] = [geometry["points"]]
        return {
            kind: [
                [corner[:2] for corner in part if _is_corner(corner)]
                for part in geometry[kind]
                if isinstance(part, list)
            ]
            for kind in SHAPE_KINDS
            if isinstance(geometry.get(kind), list)
        }


def _is_corner(corner: Any) -> bool:
    """Numbers after longitude and latitude are height and measure."""
    return isinstance(corner, list) and len(corner) > 1 and {type(n) for n in corner[:2]} <= {int, float}


def _read_rows(
    first: Feature, features: Iterator[Feature], choices: Mapping[str, str]
) -> Iterator[DetailedRow]:
    positions_by_names: dict[tuple[str, ...], list[int | None]] = {}
    number = 1
    feature: Feature | None = first
    try:
        while feature is not None:
            attributes, parts = feature
            names = tuple(attributes)
            if names not in positions_by_names:
                if len(positions_by_names) >= MAX_CACHED_SHAPES:
                    positions_by_names.clear()
                columns = _find_columns(list(names), choices)
                positions_by_names[names] = [columns.get(field) for field in _FIELDS]
            cells = (*attributes.values(),)
            zip_code, route, residential, business, total, income, age, household, facility = (
                "" if index is None else cells[index] for index in positions_by_names[names]
            )
            details = (make_shape(parts) if parts else None, income, age, household, facility)
            yield number, zip_code, route, residential, business, total, details
            number, feature = number + 1, next(features, None)
    except ijson.JSONError as error:
        raise _describe_break(error, number) from error


def _find_columns(names: list[str], choices: Mapping[str, str]) -> Columns:
    columns = find_columns(names, choices)
    if not is_complete(columns):
        first_names = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
        raise BadRouteFile(f"The features have no route or no counts; their attributes: {first_names}.")
    return columns


def _describe_break(error: Exception, number: int = 0) -> BadRouteFile:
    reason = str(error).splitlines()[0][:120]
    if number:
        return BadRouteFile(f"The JSON is broken or cut off after feature {number}: {reason}.")
    return BadRouteFile(f"The JSON is broken or cut off: {reason}.")
