"""Puts rows under their heads, checks every cell and writes them for the process that waits."""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from fulfillment.core.csv_rows import typed_cell
from stores.batches.files.matching import compact, member_names
from stores.batches.files.records import WARNING, FileFault, file_error
from stores.batches.files.text_files import MAX_CELL_LENGTH, text_fault

_WITHOUT_ZEROS = re.compile(r"(\d{3,4})(-\d{4})?")
# Places with ZIP codes; many other countries have codes of four digits.
_ZIP_COUNTRIES = frozenset(
    {"", "us", "usa", "unitedstates", "unitedstatesofamerica", "pr", "puertorico", "vi", "usvirginislands"}
)
_CODES, _COUNTRIES = member_names("PostalCode"), member_names("CountryCode")
MAX_COLUMNS = 256
MAX_HEAD_LENGTH = 255
# For one row: more do not help a person. Beyond the second number, for the file, each row names its first alone.
MAX_PROBLEMS = 20
FILE_PROBLEMS = 40_000
# The limit of all cells, as they are in memory: a workbook may show one long text in every cell, and one emoji in a
# text makes each of its characters take four bytes.
MAX_TABLE_BYTES = 50 * 1024 * 1024
# In all rows, with the empty ones, which take memory as well: a web process holds some copies of all rows.
MAX_CELLS = 1_000_000
NO_TEXT = sys.getsizeof("")
_SPACES = re.compile(r"\s+")


class PostalCodes:
    def __init__(self, columns: Sequence[str]) -> None:
        names = [compact(column) for column in columns]
        self.columns = columns
        self.indexes = [index for index, name in enumerate(names) if name in _CODES]
        self.country = next((index for index, name in enumerate(names) if name in _COUNTRIES), None)

    def problems(self, row: int, cells: Sequence[str]) -> Iterator[FileFault]:
        """A warning, and no padding: `2138` may be a code of Switzerland as well as one of Massachusetts."""
        for index in self.indexes:
            code = cells[index] if index < len(cells) else ""
            match = _WITHOUT_ZEROS.fullmatch(code)
            if match and self._country(cells) in _ZIP_COUNTRIES:
                padded = code.zfill(5 + len(match[2] or ""))
                yield FileFault(
                    "zip_zeros_lost",
                    f"A ZIP code has five digits; this one has {len(match[1])}.",
                    f"If it is {padded}, set the column's format to text and type it again. "
                    "If it is of another country, add a column with the country.",
                    code,
                    WARNING,
                ).at(row, self.columns[index])

    def _country(self, cells: Sequence[str]) -> str:
        return compact(cells[self.country]) if self.country is not None and self.country < len(cells) else ""


@dataclass
class RawRow:
    number: int
    cells: list[str]
    # By the place of the cell in the row; None for the row as a whole.
    faults: list[tuple[int | None, FileFault]] = field(default_factory=list)


class RowsWriter:
    def __init__(self, target: TextIO, max_rows: int) -> None:
        self.target = target
        self.max_rows = max_rows
        self.columns: list[str] = []
        self.problems: list[FileFault] = []
        self.head_row: int | None = None
        self.count = self.last_row = self._problem_count = self._bytes = 0
        self._codes = PostalCodes([])
        # Where the columns stand in a row of the file.
        self._indexes: list[int] = []
        # The places of empty heads, and of heads of which a problem says that they are not read.
        self._unnamed: set[int] = set()
        self._ignored: set[int] = set()

    def add(self, row: RawRow) -> None:
        """A row of a sheet: the first that is not empty holds the heads."""
        row.cells = [typed_cell(cell).strip() for cell in row.cells]
        while row.cells and not row.cells[-1]:
            row.cells.pop()
        if not row.cells and not row.faults:
            return
        if len(row.cells) > MAX_COLUMNS:
            raise too_many_columns(len(row.cells), row.number)
        if self.head_row is None:
            self._take_head(row)
            return
        self._name_extra_cells(row)
        row.faults += cell_faults(row.cells)
        cells = [row.cells[index] if index < len(row.cells) else "" for index in self._indexes]
        self.write(row.number, cells, [fault.at(row.number, self.name(index)) for index, fault in row.faults])

    def write(self, number: int, cells: Sequence[str], problems: list[FileFault]) -> None:
        self.count += 1
        self.last_row = number
        if self.count > self.max_rows:
            raise file_error(
                "too_many_rows",
                f"The file has more than {self.max_rows:,} rows.",
                f"Split it into files of at most {self.max_rows:,} rows.",
                row=number,
            )
        if self.count * len(self.columns) > MAX_CELLS:
            raise file_error(
                "file_too_large",
                f"The rows have more than {MAX_CELLS:,} cells, empty ones included.",
                "Split the file, or delete columns that the product does not need.",
                row=number,
            )
        allowed = MAX_PROBLEMS if self._problem_count < FILE_PROBLEMS else 1
        shown = [*problems, *self._codes.problems(number, cells)][:allowed]
        self._problem_count += len(shown)
        cells = [cell[:MAX_CELL_LENGTH] for cell in cells]
        self._bytes += sum(map(sys.getsizeof, cells)) - len(cells) * NO_TEXT
        if self._bytes > MAX_TABLE_BYTES:
            raise file_error(
                "file_too_large",
                f"The rows take more than {MAX_TABLE_BYTES:,} bytes. "
                "Each character of a cell with an emoji takes four.",
                "Split the file, or delete columns that the product does not need.",
                row=number,
            )
        self.target.write(json.dumps([number, cells, [problem.record for problem in shown]]) + "\n")

    def use_columns(self, columns: list[str], row: int) -> None:
        long = next((column for column in columns if len(column) > MAX_HEAD_LENGTH), None)
        if long:
            raise file_error(
                "head_too_long",
                f"A header in row {row:,} has {len(long):,} characters; at most {MAX_HEAD_LENGTH} are "
                f"allowed.",
                "Write the headers into the first row that is not empty, and shorten them.",
                row=row,
                value=long,
            )
        self.columns = columns
        self._codes = PostalCodes(columns)

    def name(self, index: int | None) -> str | None:
        """The name of the column, or its letters where it has none of its own."""
        if index is None:
            return None
        if index in self._indexes:
            return self.columns[self._indexes.index(index)]
        return column_letters(index)

    def column_indexes(self) -> Iterator[tuple[int, str]]:
        """The columns and where they stand in a row of the file."""
        return zip(self._indexes, self.columns, strict=True)

    def check_rows(self) -> None:
        if not self.count:
            raise file_error(
                "no_rows",
                "The file has no rows below its headers.",
                "Add at least one row.",
                row=self.head_row,
            )

    def _take_head(self, row: RawRow) -> None:
        self.head_row = row.number
        columns: list[str] = []
        index_by_head: dict[str, int] = {}
        faults = row.faults + cell_faults(row.cells)
        for index, cell in enumerate(row.cells):
            column = _SPACES.sub(" ", cell)
            if not column:
                self._unnamed.add(index)
            elif (first := index_by_head.setdefault(column.casefold(), index)) != index:
                self._ignored.add(index)
                faults.append((index, _duplicate_head(column, first, index)))
            else:
                columns.append(column)
                self._indexes.append(index)
        self.use_columns(columns, row.number)
        heads = dict(enumerate(row.cells))
        for column_index, fault in faults:
            head = heads.get(-1 if column_index is None else column_index)
            self.problems.append(fault.at(row.number, head or self.name(column_index)))

    def _name_extra_cells(self, row: RawRow) -> None:
        """Cells without a head: below an empty head that is said once, beyond the last head in each row."""
        last = max([*self._indexes, *self._ignored, *self._unnamed], default=-1)
        for index in sorted(self._unnamed):
            if index < len(row.cells) and row.cells[index]:
                self._unnamed.remove(index)
                self._ignored.add(index)
                self.problems.append(_empty_head(index, row).at(self.head_row, column_letters(index)))
        extra = next((index for index in range(last + 1, len(row.cells)) if row.cells[index]), None)
        if extra is not None:
            row.faults.append((extra, _too_many_cells(row.cells, last + 1)))


def column_letters(index: int) -> str:
    """The letters of a column, counted from 0, in a spreadsheet."""
    before, last = divmod(index, 26)
    return (column_letters(before - 1) if before else "") + chr(ord("A") + last)


def too_many_columns(count: int, row: int) -> Exception:
    return file_error(
        "too_many_columns",
        f"Row {row:,} has {count:,} columns; at most {MAX_COLUMNS} are allowed.",
        "Delete the columns that the product does not need.",
        row=row,
        column=column_letters(min(count, 16_384) - 1),
    )


def cell_faults(cells: Sequence[str]) -> list[tuple[int | None, FileFault]]:
    return [(index, fault) for index, cell in enumerate(cells) if (fault := text_fault(cell))]


def _duplicate_head(column: str, first: int, index: int) -> FileFault:
    return FileFault(
        "head_duplicate",
        f"Columns {column_letters(first)} and {column_letters(index)} have the same header. Only the first is read.",
        "Rename one of them, or delete it.",
        column,
    )


def _empty_head(index: int, row: RawRow) -> FileFault:
    return FileFault(
        "head_empty",
        f"Column {column_letters(index)} has values, as in row {row.number:,}, but no header. It is not read.",
        "Write a header above the column, or delete it.",
        row.cells[index],
    )


def _too_many_cells(cells: Sequence[str], heads: int) -> FileFault:
    return FileFault(
        "too_many_cells",
        f"The row has {len(cells)} cells below {heads} headers.",
        "Put quotes around a cell that contains a separator, or write a header above every column.",
        next(cell for cell in cells[heads:] if cell),
    )
