"""The answers of the USPS map service, saved to a file: one, or several one after the other or in an array."""

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import ijson

from delivery.sources.columns import Columns, find_columns, is_complete
from delivery.sources.problems import FileRefused, ProblemLog
from delivery.sources.rows import Row, Source

ATTRIBUTES = "features.item.attributes"


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


def _features(stream: BinaryIO) -> Iterator[dict[str, str]]:
    attributes: dict[str, str] | None = None
    name = ""
    for prefix, event, value in ijson.parse(stream, use_float=True, multiple_values=True):
        if attributes is not None:
            if event == "map_key":
                name = value
            elif event == "end_map" and prefix.endswith(ATTRIBUTES):
                yield attributes
                attributes = None
            else:
                attributes[name] = _text(value)
        elif event == "start_map" and prefix.endswith(ATTRIBUTES):
            attributes = {}
        elif prefix.endswith("error.message") and event == "string":
            raise FileRefused(f"The map service answered with an error: {value[:200]}. Fetch the file again.")


def _rows(
    first: dict[str, str], features: Iterator[dict[str, str]], chosen: Mapping[str, str]
) -> Iterator[Row]:
    seen: dict[tuple[str, ...], list[int | None]] = {}
    number, feature = 1, first
    try:
        while feature:
            names = tuple(feature)
            if names not in seen:
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
        raise FileRefused(f"The features have no route or no counts; their attributes: {', '.join(names)}.")
    return columns


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _broken(error: Exception, number: int = 0) -> FileRefused:
    where = f" after feature {number}" if number else ""
    return FileRefused(f"The JSON is broken or cut off{where}: {str(error).splitlines()[0][:120]}.")
