"""Reads CSV rows, and writes them without formulas that a spreadsheet would run."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

# The start of a formula for spreadsheets, including full-width and quoted forms.
FORMULA = r"""["' ]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"""
AT_START = re.compile(FORMULA)
# Some locales split cells at semicolons.
SEPARATOR = re.compile(r"[;\t\r\n]")
AFTER_SEPARATOR = re.compile(f"({SEPARATOR.pattern})(?={FORMULA})")
INERT_AFTER_SEPARATOR = re.compile(f"({SEPARATOR.pattern})'(?={FORMULA})")

# At the start of files that people open: spreadsheets take a file without it for one in the encoding of the machine.
BOM = b"\xef\xbb\xbf"
ROWS_PER_PIECE = 500


class Writable(Protocol):
    def write(self, text: str, /) -> Any: ...


class _Lines(list[str]):
    """A file-like buffer of CSV lines for the next piece."""

    def write(self, line: str) -> None:
        self.append(line)

    def take(self) -> bytes:
        content = "".join(self).encode()
        self.clear()
        return content


def csv_pieces(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """The header and a line for each row, a few hundred at a time."""
    lines = _Lines()
    write_csv_row(lines, columns)
    for row in rows:
        write_csv_row(lines, row)
        if len(lines) >= ROWS_PER_PIECE:
            yield lines.take()
    yield lines.take()


def write_csv_row(target: Writable, cells: Iterable[Any]) -> None:
    csv.writer(target).writerow([inert_cell(cell) for cell in cells])


def inert_cell(value: Any) -> Any:
    """The cell as text: an apostrophe is put before anything that starts like a formula."""
    if isinstance(value, str):
        if SEPARATOR.search(value):
            value = AFTER_SEPARATOR.sub(r"\1'", value)
        return f"'{value}" if AT_START.match(value) else value
    return "" if value is None else value


def typed_cell(value: str) -> str:
    """The text that a person typed, from a cell that `inert_cell` wrote: spreadsheets hide the apostrophe, too."""
    if value.startswith("'") and AT_START.match(value[1:]):
        value = value[1:]
    return INERT_AFTER_SEPARATOR.sub(r"\1", value) if SEPARATOR.search(value) else value


class BrokenRow(Exception):
    """The row at `line` is not CSV."""

    def __init__(self, line: int, reason: object) -> None:
        super().__init__(f"The row at line {line} is not valid CSV: {reason}.")


def numbered_rows(source: Iterable[str], *, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yields each row with the line at which it begins; raises BrokenRow."""
    reader = csv.reader(source, strict=True, delimiter=delimiter)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise BrokenRow(line, error) from error
        yield line, row
