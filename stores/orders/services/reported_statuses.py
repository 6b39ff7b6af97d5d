"""Reads a CSV file of order statuses and checks each line by the rules of the API."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fulfillment.core.errors import Invalid
from fulfillment.core.text_validation import has_control_character

COLUMNS = {"ordernumber": True, "status": True, "carrier": False, "tracking": False, "note": False}
SYNONYMS = {"order": "ordernumber", "trackingnumber": "tracking"}
# The limits of the API.
LENGTHS = {"carrier": 60, "tracking": 100, "note": 1000}


@dataclass(frozen=True, slots=True)
class ReportedStatus:
    """A line of the file; `fault` says why it is invalid."""

    line: int
    number: str
    status: str
    carrier: str = ""
    tracking: str = ""
    note: str = ""
    fault: str = ""


def read_reported(source: Iterable[str]) -> Iterator[ReportedStatus]:
    """The lines of a CSV file; the first line names the columns, in any order, case and punctuation.

    Raises Invalid, naming the line, where the file is not CSV.
    """
    rows = _rows(source)
    heading = ["".join(filter(str.isalpha, name.lower())) for name in next(rows, (0, []))[1]]
    names = [SYNONYMS.get(name, name) for name in heading]
    missing = [name for name, required in COLUMNS.items() if required and name not in names]
    unknown = [name for name in names if name not in COLUMNS]
    if missing or unknown or len(set(names)) < len(names):
        raise Invalid(
            "The first line must name the columns order number, status and, optionally, carrier, tracking and "
            f"note; found {', '.join(names)[:200] or 'nothing'}.",
            code="columns_unknown",
        )
    for line, row in rows:
        if any(cell.strip() for cell in row):
            cells = {name: cell.strip() for name, cell in zip(names, row, strict=False)}
            too_many = any(cell.strip() for cell in row[len(names) :])
            fault = f"it has {len(row)} cells for {len(names)} columns" if too_many else _text_fault(cells)
            values = {name: cells.get(name, "") for name in COLUMNS}
            yield ReportedStatus(line, number=values.pop("ordernumber"), **values, fault=fault)


def _rows(source: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yields each row with the line at which it begins."""
    reader = csv.reader(source, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            message = f"The row at line {line} is not valid CSV: {error}. No order was changed."
            raise Invalid(message, code="csv_broken") from error
        yield line, row


def _text_fault(cells: dict[str, str]) -> str:
    for name, length in LENGTHS.items():
        text = cells.get(name, "")
        if len(text) > length:
            return f"{name}: Ensure this field has no more than {length} characters."
        if has_control_character(text):
            return f"{name}: This holds a control character."
    return ""
