"""Rows of CSV that no spreadsheet runs; the one place that writes them."""

import csv
import re
from collections.abc import Iterable
from typing import Any, Protocol

# What a spreadsheet takes for the start of a formula, wide forms included, quotes around it or not.
FORMULA = r"""["' ]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"""
AT_START = re.compile(FORMULA)
# Where spreadsheets of other languages, which split at semicolons, begin another cell.
SEPARATOR = re.compile(r"[;\t\r\n]")
AFTER_SEPARATOR = re.compile(f"({SEPARATOR.pattern})(?={FORMULA})")


class Writable(Protocol):
    def write(self, text: str, /) -> Any: ...


def write_csv_row(target: Writable, cells: Iterable[Any]) -> None:
    csv.writer(target).writerow([inert_cell(cell) for cell in cells])


def inert_cell(value: Any) -> Any:
    """A cell that is taken for text: what starts like a formula gets an apostrophe before it."""
    if isinstance(value, str):
        if SEPARATOR.search(value):
            value = AFTER_SEPARATOR.sub(r"\1'", value)
        return f"'{value}" if AT_START.match(value) else value
    return "" if value is None else value
