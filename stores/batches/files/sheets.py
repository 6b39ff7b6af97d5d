"""Reads the cells of a sheet as the text that they show.

Neither library reads enough. openpyxl knows hidden rows and merged cells only where it holds the whole workbook in
memory; its streaming reader gives a formula or its value, not both, so a formula without a value cannot be told from an
empty cell. python-calamine has no number formats (02139 is 2139.0) and decodes a whole sheet at once: a file of 0.8 MB
took 322 MB. openpyxl writes our files.
"""

import math
import re
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from lxml import etree

from stores.batches.files.container import LAST_COLUMN, damaged_file, entities_declared
from stores.batches.files.csv_files import error_value
from stores.batches.files.number_formats import PRECISION, format_number
from stores.batches.files.records import WARNING, FileFault
from stores.batches.files.rows import RawRow, RowsWriter, column_letters, too_many_columns

# Reads the XML parts of a workbook element by element, without entities and references to elsewhere.
# A directory that lies about the places of parts makes the module seek before the file.
_BROKEN = (
    *(etree.XMLSyntaxError, zipfile.BadZipFile, zlib.error),
    *(OSError, EOFError, NotImplementedError, UnicodeError),
)
LAST_ROW = 1_048_576
# A sheet of 20,000 rows may have two merged cells in each.
MAX_MARKS = 40_000
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_HIDDEN = FileFault(
    "row_hidden",
    "The row is hidden in the sheet, by hand or by a filter. It is read all the same.",
    "Delete the row if it does not belong to the batch.",
    severity=WARNING,
)


def local_name(element: etree._Element) -> str:
    """The name without the namespace, of which there are two: the transitional and the strict one."""
    return str(element.tag).rpartition("}")[2]


def elements(archive: zipfile.ZipFile, part: str, names: Collection[str]) -> Iterator[etree._Element]:
    """Yields each element of these names at its end, and empties it before the next."""
    try:
        with archive.open(part) as stream:
            _refuse_declarations(stream, part)
        with archive.open(part) as stream:
            for _, element in _read_events(stream, "end", [f"{{*}}{name}" for name in names]):
                yield element
                _free_element(element)
    except KeyError as error:
        raise damaged_file(f": it has no part {part[:100]}") from error
    except _BROKEN as error:
        raise damaged_file(f" in its part {part[:100]}") from error


def _read_events(
    stream: IO[bytes], event: str, names: Collection[str] | None = None
) -> Iterator[tuple[str, etree._Element]]:
    return etree.iterparse(
        stream,
        events=(event,),
        tag=names,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )


def _free_element(element: etree._Element) -> None:
    """Frees what was read, as nothing else does before the end of the part."""
    element.clear(keep_tail=False)
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


def _refuse_declarations(stream: IO[bytes], part: str) -> None:
    _, root = next(_read_events(stream, "start"))
    if root.getroottree().docinfo.doctype:
        raise entities_declared(part)


@dataclass(frozen=True)
class Book:
    """What the cells of all sheets refer to."""

    texts: Sequence[str]
    # The number format of each style.
    formats: Sequence[str]
    is_1904: bool


@dataclass
class SheetMarks:
    """What a sheet says beside its cells."""

    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)


@dataclass
class _Row:
    number: int
    cells: dict[int, str] = field(default_factory=dict)
    faults: list[tuple[int | None, FileFault]] = field(default_factory=list)
    last: int = -1


def read_sheet(archive: zipfile.ZipFile, part: str, book: Book, rows: RowsWriter) -> SheetMarks:
    sheet = SheetMarks()
    row = _Row(1)
    for element in elements(archive, part, {"c", "row", "col", "mergeCell"}):
        name = local_name(element)
        if name == "c":
            _take_cell(element, row, book)
        elif name == "row":
            number = _row_number(element, row.number)
            rows.add(_raw_row(number, row, is_hidden=element.get("hidden") in {"1", "true"}))
            row = _Row(number + 1)
        elif len(sheet.hidden_columns) + len(sheet.merged) > MAX_MARKS:
            raise damaged_file(f": it has more than {MAX_MARKS:,} merged cells and hidden columns")
        elif name == "col" and element.get("hidden") in {"1", "true"}:
            sheet.hidden_columns.append((_read_whole(element.get("min")), _read_whole(element.get("max"))))
        elif name == "mergeCell":
            sheet.merged.append(element.get("ref", ""))
    return sheet


def cell_position(reference: str) -> tuple[int, int]:
    """Column from 0 and row from 1 of a reference such as `AB12`."""
    match = _REFERENCE.fullmatch(reference)
    if not match:
        raise damaged_file(f": {reference[:20]} is no cell")
    column = 0
    for letter in match[1]:
        column = column * 26 + ord(letter) - 64
    return column - 1, int(match[2])


def string_text(element: etree._Element) -> str:
    """The text of a shared or inline string: its runs, without the readings of Japanese."""
    runs = [child for child in element.iter() if local_name(child) == "t" and not _is_reading(child)]
    return _unescaped("".join(child.text or "" for child in runs))


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _is_reading(element: etree._Element) -> bool:
    parent = element.getparent()
    return parent is not None and local_name(parent) == "rPh"


def _read_whole(text: str | None) -> int:
    if text is None or not text.isdecimal() or len(text) > 9:
        raise damaged_file(": it has a number that is none")
    return int(text)


def _row_number(element: etree._Element, expected: int) -> int:
    number = _read_whole(element.get("r")) if element.get("r") else expected
    if not expected <= number <= LAST_ROW:
        raise damaged_file(f": row {number} follows row {expected - 1}")
    return number


def _raw_row(number: int, row: _Row, *, is_hidden: bool) -> RawRow:
    cells = [row.cells.get(index, "") for index in range(max(row.cells, default=-1) + 1)]
    raw = RawRow(number, cells, row.faults)
    if is_hidden and (any(cells) or row.faults):
        raw.faults.append((None, _HIDDEN))
    return raw


def _take_cell(cell: etree._Element, row: _Row, book: Book) -> None:
    reference = cell.get("r")
    index = cell_position(reference)[0] if reference else row.last + 1
    if index >= LAST_COLUMN or index <= row.last:
        raise (
            too_many_columns(index + 1, row.number)
            if index >= LAST_COLUMN
            else damaged_file(f": cell {reference} follows another")
        )
    row.last = index
    text, fault = _read_cell(cell, reference or f"{column_letters(index)}{row.number}", book)
    if text:
        row.cells[index] = text.replace("\r\n", "\n").replace("\r", "\n")
    if fault:
        row.faults.append((index, fault))


def _read_cell(cell: etree._Element, reference: str, book: Book) -> tuple[str, FileFault | None]:
    kind = cell.get("t", "n")
    formula = value = inline = None
    for child in cell:
        name = local_name(child)
        if name == "f":
            formula = child.text or "="
        elif name == "v":
            value = child.text or ""
        elif name == "is":
            inline = string_text(child)
    if inline is not None:
        return inline, None
    # A formula whose result is empty text has an empty value and the type of text.
    if formula is not None and (value is None or (not value and kind != "str")):
        return "", _without_value(reference, formula)
    if not value:
        return "", None
    if kind == "e":
        return value, error_value(value, f" {reference}")
    return _cell_text(kind, value, reference, cell.get("s"), book)


def _cell_text(
    kind: str, value: str, reference: str, style: str | None, book: Book
) -> tuple[str, FileFault | None]:
    if kind == "s":
        index = _read_whole(value.strip())
        if index >= len(book.texts):
            raise damaged_file(f": cell {reference} has a text that is not there")
        return book.texts[index], None
    if kind == "b":
        return ("TRUE" if value.strip() == "1" else "FALSE"), None
    if kind == "d":
        return value.removesuffix("T00:00:00").replace("T", " "), None
    if kind == "n":
        return _read_number(value, reference, style, book)
    return _unescaped(value), None


def _read_number(value: str, reference: str, style: str | None, book: Book) -> tuple[str, FileFault | None]:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        return "", FileFault(
            "number_invalid", f"Cell {reference} contains no number.", "Type it again.", value
        )
    index = _read_whole(style) if style else 0
    code = book.formats[index] if index < len(book.formats) else "General"
    text = format_number(number, code, is_1904=book.is_1904)
    if text is None:
        return "", FileFault(
            "date_invalid",
            f"Cell {reference} has a date format, but {value} is not a date.",
            "Type the date again, or set the cell's format to a number.",
            value,
        )
    if abs(number) >= 10**PRECISION:
        return text, _refuse_imprecise(reference, text)
    return text, None


def _without_value(reference: str, formula: str) -> FileFault:
    return FileFault(
        "formula_without_value",
        f"Cell {reference} contains a formula and no value.",
        "Open the file in Excel or LibreOffice, save it again and upload that file, or write the value.",
        formula if formula.startswith("=") else f"={formula}",
    )


def _refuse_imprecise(reference: str, text: str) -> FileFault:
    return FileFault(
        "number_shortened",
        f"Cell {reference} contains a number of more than {PRECISION} digits; the last ones are lost.",
        "Set the column's format to text and type the number again.",
        text,
        WARNING,
    )
