"""Reads CSV: finds the separator and names the row and column of a quote that is not closed."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from stores.batches.files.records import WARNING, FileFault, file_error
from stores.batches.files.rows import MAX_COLUMNS, RawRow, RowsWriter, too_many_columns
from stores.batches.files.text_files import encoding_of

SEPARATORS = (",", ";", "\t")
_SAID_SEPARATOR = re.compile(r"sep=([,;\t])[\r\n]", re.IGNORECASE)
SAMPLE = 1 << 15
# Rows of our own templates that say what a column takes.
NOTE = "# "
# Characters of a line, and of a record, whose cells may hold line ends.
MAX_LINE_LENGTH = 1_000_000
MAX_RECORD_LENGTH = 4_000_000
_TEXT_FORMULA = re.compile(r'="([^"]*)"')
_ERROR_VALUE = re.compile(r"#(REF!|N/A|VALUE!|NAME\?|DIV/0!|NULL!|NUM!|SPILL!|CALC!|#{2,})")
_SHORTENED = re.compile(r"\d([.,]\d+)?E\+\d{1,3}")


def read_csv(path: Path, content_type: str, rows: RowsWriter) -> dict[str, str]:
    encoding = encoding_of(path, content_type)
    with path.open(encoding=encoding, errors="replace", newline="") as stream:
        separator = _find_separator(stream)
        for row in _read_records(stream, separator, rows):
            if row.cells[:1] and row.cells[0].startswith(NOTE) and not any(row.cells[1:]):
                continue
            _check_cells(row)
            if rows.head_row is not None and len(row.cells) < len(rows.columns) and any(row.cells):
                row.faults.append((None, _too_few_cells(row, len(rows.columns))))
            rows.add(row)
    return {"format": "csv", "encoding": encoding.removesuffix("-sig"), "separator": separator}


def _find_separator(stream: TextIO) -> str:
    """The stream stands at the heads afterwards."""
    sample = stream.read(SAMPLE)
    stream.seek(0)
    if declared := _SAID_SEPARATOR.match(sample):
        stream.readline()
        return declared[1]
    best = max(SEPARATORS, key=lambda separator: _rate_separator(sample, separator))
    head = next((line for line in sample.splitlines() if line.strip()), "")
    if best not in head and "|" in head:
        raise file_error(
            "separator_unknown",
            "The cells are separated by |.",
            "Separate them by commas, semicolons or tabs.",
            row=1,
            value=head,
        )
    return best


def _rate_separator(sample: str, separator: str) -> tuple[int, int]:
    """How many of the first records have as many cells as the heads, and how many heads there are."""
    records: list[list[str]] = []
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=True)
    # A cell that is too long is named where the rows are read.
    with suppress(csv.Error):
        records.extend(record for record in reader if record)
    heads = len(records[0]) if records else 0
    return (sum(len(record) == heads for record in records), heads) if heads > 1 else (0, heads)


def _read_records(stream: TextIO, separator: str, rows: RowsWriter) -> Iterator[RawRow]:
    number, length = 1, 0
    record: list[str] = []

    def lines() -> Iterator[str]:
        nonlocal length
        while line := stream.readline(MAX_LINE_LENGTH + 1):
            if line.count(separator) > 100 * MAX_COLUMNS:
                raise too_many_columns(line.count(separator) + 1, number)
            record.append(line)
            length += len(line)
            if len(line) > MAX_LINE_LENGTH or length > MAX_RECORD_LENGTH:
                raise _cell_error(record, separator, number, rows)
            yield line

    reader = csv.reader(lines(), delimiter=separator, skipinitialspace=True, strict=True)
    while True:
        record.clear()
        length = 0
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _cell_error(record, separator, number, rows) from error
        yield RawRow(number, [cell.replace("\r\n", "\n").replace("\r", "\n") for cell in cells])
        number += 1


def _cell_error(record: list[str], separator: str, number: int, rows: RowsWriter) -> Exception:
    index, text = _failing_cell("".join(record), separator)
    if not text.startswith('"'):
        return file_error(
            "cell_too_long",
            f"A cell in row {number:,} is too long to read.",
            "Shorten the text.",
            row=number,
            column=rows.name(index),
            value=text,
        )
    return file_error(
        "quote_unclosed",
        f"A cell in row {number:,} starts with a quote that is not closed at the cell's end.",
        'Close the quote, or write a quote inside the cell twice ("").',
        row=number,
        column=rows.name(index),
        value=text,
    )


def _failing_cell(text: str, separator: str) -> tuple[int, str]:
    """The place of the first cell of a record that is not sound or too long, and the text from there."""
    end = re.escape(separator)
    sound = re.compile(rf' *+(?:"(?:[^"]|"")*+"|[^"{end}\r\n][^{end}\r\n]*+|)({end}|\r?\n|\r)')
    index = start = 0
    while (match := sound.match(text, start)) and len(match[0]) <= csv.field_size_limit():
        start = match.end()
        index += 1
    return index, text[start:].lstrip(" ")


def _check_cells(row: RawRow) -> None:
    for index, cell in enumerate(row.cells):
        if not cell or cell[0] not in "=#0123456789":
            continue
        if text := _TEXT_FORMULA.fullmatch(cell):
            row.cells[index] = text[1]
        elif cell.startswith("="):
            row.faults.append((index, _refuse_formula(cell)))
        elif _ERROR_VALUE.fullmatch(cell):
            row.faults.append((index, error_value(cell)))
        elif _SHORTENED.fullmatch(cell):
            row.faults.append((index, _number_fault(cell)))


def error_value(cell: str, place: str = "") -> FileFault:
    return FileFault(
        "cell_error",
        f"The cell{place} shows the error {cell[:20]}.",
        "Correct its formula, or write the value.",
        cell,
    )


def _refuse_formula(cell: str) -> FileFault:
    return FileFault(
        "formula_without_value",
        "The cell contains a formula and no value.",
        "Write the value, or save the file again in the program that made it.",
        cell,
    )


def _number_fault(cell: str) -> FileFault:
    return FileFault(
        "number_shortened",
        "A spreadsheet has shortened the number; digits are lost.",
        "Set the column's format to text, write the whole number and save the file again.",
        cell,
        WARNING,
    )


def _too_few_cells(row: RawRow, heads: int) -> FileFault:
    return FileFault(
        "too_few_cells",
        f"The row has {len(row.cells)} cells below {heads} headers. The missing ones are read as empty.",
        "Check that every value is below its header.",
        severity=WARNING,
    )
