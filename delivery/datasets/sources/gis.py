"""The answers of the USPS map service, saved to a file: one, or several one after the other or in an array."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import ijson

from delivery.datasets.sources.columns import Columns, find_columns, is_complete
from delivery.datasets.sources.problems import FileRefused, ProblemLog
from delivery.datasets.sources.rows import Row, Source

MAXIMUM_DEPTH = 64
# Between two events of the parser, which holds a name, text or number whole.
LONGEST_TOKEN = 1 << 20
MAXIMUM_ATTRIBUTES = 500
LONGEST_NAME = 200
LONGEST_VALUE = 1000
# Features of one file have a handful of shapes; more are not remembered.
SHAPES_KEPT = 100
OPENING, CLOSING = frozenset({"start_map", "start_array"}), frozenset({"end_map", "end_array"})


def read_gis(stream: BinaryIO, chosen: Mapping[str, str], log: ProblemLog) -> Source:
    """Features are counted from 1 in place of lines; their geometry is passed over."""
    features = _features(stream)
    try:
        first = next(features, None)
    except ijson.JSONError as error:
        raise _broken(error) from error
    if first is None:
        raise FileRefused("The JSON holds no routes (no features with attributes).")
    names = list(first)
    columns = _columns(names, chosen)
    log.columns = {field: names[at] for field, at in columns.items()}
    return Source(format="gis-json", header=names, columns=columns, rows=_rows(first, features, chosen))


class _Bounded:
    """Ends a file whose next name, text or number does not end."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream, self.since_event = stream, 0

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.since_event += len(data)
        if self.since_event > LONGEST_TOKEN:
            raise FileRefused(f"A name, text or number in the JSON is longer than {LONGEST_TOKEN:,} bytes.")
        return data


def _features(stream: BinaryIO) -> Iterator[dict[str, str]]:
    """The attributes of each feature. Of everything else only the names that lead to it are kept, never its path:
    a new path for every level costs the square of the depth."""
    bounded = _Bounded(stream)
    names: list[str] = []
    attributes: dict[str, str] | None = None
    attributes_depth = 0
    for event, value in ijson.basic_parse(bounded, use_float=True, multiple_values=True):
        bounded.since_event = 0
        if event in OPENING:
            if attributes is None and event == "start_map" and names[-3:] == ["features", "", "attributes"]:
                attributes, attributes_depth = {}, len(names)
            names.append("")
            if len(names) > MAXIMUM_DEPTH:
                raise FileRefused(
                    f"The JSON is nested deeper than {MAXIMUM_DEPTH} levels; no file of routes is."
                )
        elif event in CLOSING:
            names.pop()
            if attributes is not None and len(names) == attributes_depth:
                yield attributes
                attributes = None
        elif event == "map_key":
            names[-1] = value[: LONGEST_NAME + 1]
        elif attributes is not None and len(names) == attributes_depth + 1:
            _keep(attributes, names[-1], value)
        elif event == "string" and names[-2:] == ["error", "message"]:
            raise FileRefused(f"The map service answered with an error: {value[:200]}. Fetch the file again.")


def _keep(attributes: dict[str, str], name: str, value: Any) -> None:
    if len(name) > LONGEST_NAME:
        raise FileRefused(f"An attribute's name is longer than {LONGEST_NAME} characters: {name[:60]!r}…")
    attributes[name] = "" if value is None else str(value)[:LONGEST_VALUE]
    if len(attributes) > MAXIMUM_ATTRIBUTES:
        raise FileRefused(f"A feature has more than {MAXIMUM_ATTRIBUTES} attributes; no file of routes has.")


def _rows(
    first: dict[str, str], features: Iterator[dict[str, str]], chosen: Mapping[str, str]
) -> Iterator[Row]:
    seen: dict[tuple[str, ...], list[int | None]] = {}
    number, feature = 1, first
    try:
        while feature:
            names = tuple(feature)
            if names not in seen:
                if len(seen) >= SHAPES_KEPT:
                    seen.clear()
                columns = _columns(list(names), chosen)
                seen[names] = [columns.get(field) for field in _FIELDS]
            cells = (*feature.values(),)
            zip_code, route, residential, business, total = (
                "" if at is None else cells[at] for at in seen[names]
            )
            yield number, zip_code, route, residential, business, total
            number, feature = number + 1, next(features, {})
    except ijson.JSONError as error:
        raise _broken(error, number) from error


_FIELDS = ("zip", "route", "residential", "business", "total")


def _columns(names: list[str], chosen: Mapping[str, str]) -> Columns:
    columns = find_columns(names, chosen)
    if not is_complete(columns):
        listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
        raise FileRefused(f"The features have no route or no counts; their attributes: {listed}.")
    return columns


def _broken(error: Exception, number: int = 0) -> FileRefused:
    where = f" after feature {number}" if number else ""
    return FileRefused(f"The JSON is broken or cut off{where}: {str(error).splitlines()[0][:120]}.")
