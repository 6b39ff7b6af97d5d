"""Reads JSON: an array of flat objects, one object at a time."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from stores.batches.files.records import FileFault, RowFileRefused, file_error
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
    index_by_key: dict[str, int] = {}
    with path.open(encoding=encoding, errors="replace", newline="") as stream:
        # Rows have the numbers that they have in a sheet with the keys as heads in row 1.
        for number, item in enumerate(_read_objects(stream), start=2):
            _take_item(number, item, index_by_key, rows)
    return {"format": "json", "encoding": encoding.removesuffix("-sig")}


def _take_item(number: int, item: Any, index_by_key: dict[str, int], rows: RowsWriter) -> None:
    if not isinstance(item, _Pairs):
        raise file_error(
            "row_not_object", f"Row {number:,} is not an object.", FORM, row=number, value=json.dumps(item)
        )
    values: dict[int, str] = {}
    faults: list[tuple[int | None, FileFault]] = []
    count_before = len(index_by_key)
    for key, value in item:
        index = index_by_key.setdefault(key.strip(), len(index_by_key))
        if index in values:
            faults.append((index, _duplicate(key)))
            continue
        values[index], fault = _read_text(value)
        faults += [(index, fault)] if fault else []
    if len(index_by_key) > MAX_COLUMNS:
        raise too_many_columns(len(index_by_key), number)
    if len(index_by_key) > count_before:
        _add_columns(number, index_by_key, count_before, rows)
    cells = [values.get(index, "").strip() for index in range(max(values, default=-1) + 1)]
    if any(cells) or faults:
        faults += cell_faults(cells)
        rows.write(number, cells, [fault.at(number, rows.columns[index or 0]) for index, fault in faults])


def _add_columns(number: int, index_by_key: dict[str, int], count_before: int, rows: RowsWriter) -> None:
    rows.use_columns(list(index_by_key), number)
    for index, fault in cell_faults(rows.columns[count_before:]):
        rows.problems.append(fault.at(number, rows.columns[count_before + (index or 0)]))
    if "" in rows.columns[count_before:]:
        raise file_error(
            "head_empty", f"Row {number:,} has a value with an empty name.", "Name it.", row=number
        )


def _read_text(value: Any) -> tuple[str, FileFault | None]:
    if value is None:
        return "", None
    if isinstance(value, bool):
        return str(value).lower(), None
    if isinstance(value, _NotANumber):
        return "", FileFault(
            "number_invalid", f"{value} is not a number in JSON.", "Send a number or text.", value
        )
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n"), None
    shown = json.dumps(dict(value) if isinstance(value, _Pairs) else value)[:200]
    kind = "an object" if isinstance(value, _Pairs) else "an array"
    return "", FileFault(
        "value_nested", f"The value is {kind}.", "Send text, a number, true, false or null.", shown
    )


def _read_number(text: str) -> str:
    match = _WITHOUT_FRACTION.fullmatch(text)
    return match[1] if match else text


def _duplicate(key: str) -> FileFault:
    return FileFault(
        "head_duplicate", "The object has this name twice. Only the first value is read.", "Delete one.", key
    )


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Pairs,
    parse_int=str,
    parse_float=_read_number,
    parse_constant=_NotANumber,
    strict=False,
)


class _Window:
    """The part of the text that is being read."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.text = ""
        self.position = 0

    def more(self) -> bool:
        chunk = self.stream.read(CHUNK)
        self.text, self.position = self.text[self.position :] + chunk, 0
        return bool(chunk)

    def next_character(self) -> str:
        """The next that is no space, which is not taken; empty at the end."""
        while True:
            while self.position < len(self.text) and self.text[self.position] in _SPACE:
                self.position += 1
            if self.position < len(self.text) or not self.more():
                return self.text[self.position : self.position + 1]

    def take(self, row: int) -> Any:
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.position)
            except json.JSONDecodeError as error:
                if len(self.text) - self.position > MAX_OBJECT_LENGTH or not self.more():
                    raise _json_error(row, self.text[self.position :], error.msg) from error
                continue
            except RecursionError as error:
                raise _json_error(row, self.text[self.position :], "it is nested too deeply") from error
            self.position = end
            return value


def _read_objects(stream: TextIO) -> Iterator[Any]:
    window = _Window(stream)
    if window.next_character() != "[":
        raise file_error("json_not_array", "The JSON is not an array.", FORM, value=window.text[:40])
    window.position += 1
    row = 2
    if window.next_character() == "]":
        return
    while True:
        window.next_character()
        yield window.take(row)
        after = window.next_character()
        window.position += 1
        if after == "]":
            break
        if after != ",":
            raise _json_error(row, after, "a comma or ] is missing after the object")
        row += 1
    if window.next_character():
        raise _json_error(row, window.text[window.position :], "something follows the array")


def _json_error(row: int, text: str, detail: str) -> RowFileRefused:
    detail = detail[:1].lower() + detail[1:]
    return file_error(
        "json_damaged", f"The JSON is damaged at row {row:,}: {detail}.", FORM, row=row, value=text
    )
