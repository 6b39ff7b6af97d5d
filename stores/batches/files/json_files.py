"""Reads JSON: an array of flat objects, one object at a time."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from stores.batches.files.records import Fault, FileRefused, file_error
from stores.batches.files.rows import MAX_COLUMNS, RowsWriter, cell_faults, too_many_columns
from stores.batches.files.text_files import encoding_of

CHUNK = 1 << 16
MAX_OBJECT_LENGTH = 1_000_000
FORM = 'Send an array of flat objects, as in [{"Name": "Dana Lee"}].'
_WITHOUT_FRACTION = re.compile(r"(-?\d+)\.0+")
_SPACE = " \t\r\n"


class _Pairs(list[tuple[str, Any]]):
    """An object with its keys in order, twice where they stand twice."""


class _NotANumber(str):
    """NaN or Infinity, which JSON does not know."""


def read_json(path: Path, content_type: str, rows: RowsWriter) -> dict[str, str]:
    encoding = encoding_of(path, content_type)
    rows.head_row = 1
    places: dict[str, int] = {}
    with path.open(encoding=encoding, errors="replace", newline="") as stream:
        # Rows have the numbers that they have in a sheet with the keys as heads in row 1.
        for number, item in enumerate(_objects(stream), start=2):
            _take(number, item, places, rows)
    return {"format": "json", "encoding": encoding.removesuffix("-sig")}


def _take(number: int, item: Any, places: dict[str, int], rows: RowsWriter) -> None:
    if not isinstance(item, _Pairs):
        raise file_error(
            "row_not_object", f"Row {number:,} is not an object.", FORM, row=number, value=json.dumps(item)
        )
    values: dict[int, str] = {}
    faults: list[tuple[int | None, Fault]] = []
    known = len(places)
    for key, value in item:
        place = places.setdefault(key.strip(), len(places))
        if place in values:
            faults.append((place, _duplicate(key)))
            continue
        values[place], fault = _text(value)
        faults += [(place, fault)] if fault else []
    if len(places) > MAX_COLUMNS:
        raise too_many_columns(len(places), number)
    if len(places) > known:
        _add_columns(number, places, known, rows)
    cells = [values.get(place, "").strip() for place in range(max(values, default=-1) + 1)]
    if any(cells) or faults:
        faults += cell_faults(cells)
        rows.write(number, cells, [fault.at(number, rows.columns[place or 0]) for place, fault in faults])


def _add_columns(number: int, places: dict[str, int], known: int, rows: RowsWriter) -> None:
    rows.use_columns(list(places), number)
    for place, fault in cell_faults(rows.columns[known:]):
        rows.problems.append(fault.at(number, rows.columns[known + (place or 0)]))
    if "" in rows.columns[known:]:
        raise file_error(
            "head_empty", f"Row {number:,} has a value with an empty name.", "Name it.", row=number
        )


def _text(value: Any) -> tuple[str, Fault | None]:
    if value is None:
        return "", None
    if isinstance(value, bool):
        return str(value).lower(), None
    if isinstance(value, _NotANumber):
        return "", Fault(
            "number_invalid", f"{value} is not a number in JSON.", "Send a number or text.", value
        )
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n"), None
    shown = json.dumps(dict(value) if isinstance(value, _Pairs) else value)[:200]
    kind = "an object" if isinstance(value, _Pairs) else "an array"
    return "", Fault(
        "value_nested", f"The value is {kind}.", "Send text, a number, true, false or null.", shown
    )


def _number(text: str) -> str:
    match = _WITHOUT_FRACTION.fullmatch(text)
    return match[1] if match else text


def _duplicate(key: str) -> Fault:
    return Fault(
        "head_duplicate", "The object has this name twice. Only the first value is read.", "Delete one.", key
    )


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Pairs, parse_int=str, parse_float=_number, parse_constant=_NotANumber, strict=False
)


class _Window:
    """The part of the text that is being read."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.text = ""
        self.place = 0

    def more(self) -> bool:
        chunk = self.stream.read(CHUNK)
        self.text, self.place = self.text[self.place :] + chunk, 0
        return bool(chunk)

    def next_character(self) -> str:
        """The next that is no space, which is not taken; empty at the end."""
        while True:
            while self.place < len(self.text) and self.text[self.place] in _SPACE:
                self.place += 1
            if self.place < len(self.text) or not self.more():
                return self.text[self.place : self.place + 1]

    def take(self, row: int) -> Any:
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.place)
            except json.JSONDecodeError as error:
                if len(self.text) - self.place > MAX_OBJECT_LENGTH or not self.more():
                    raise _json_error(row, self.text[self.place :], error.msg) from error
                continue
            except RecursionError as error:
                raise _json_error(row, self.text[self.place :], "it is nested too deeply") from error
            self.place = end
            return value


def _objects(stream: TextIO) -> Iterator[Any]:
    window = _Window(stream)
    if window.next_character() != "[":
        raise file_error("json_not_array", "The JSON is not an array.", FORM, value=window.text[:40])
    window.place += 1
    row = 2
    if window.next_character() == "]":
        return
    while True:
        window.next_character()
        yield window.take(row)
        after = window.next_character()
        window.place += 1
        if after == "]":
            break
        if after != ",":
            raise _json_error(row, after, "a comma or ] is missing after the object")
        row += 1
    if window.next_character():
        raise _json_error(row, window.text[window.place :], "something follows the array")


def _json_error(row: int, text: str, detail: str) -> FileRefused:
    detail = detail[:1].lower() + detail[1:]
    return file_error(
        "json_damaged", f"The JSON is damaged at row {row:,}: {detail}.", FORM, row=row, value=text
    )
