"""Orders as lines of CSV: the same columns at every door that hands them out."""

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from stores.order_renderings import EXPORT_COLUMNS

ROWS_OF_A_CHUNK = 500
# What a spreadsheet takes for the start of a formula, wide forms included, quotes around it or not.
FORMULA = r"""["' ]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"""
AT_START = re.compile(FORMULA)
# Where spreadsheets of other languages, which split at semicolons, begin another cell.
SEPARATOR = re.compile(r"[;\t\r\n]")
AFTER_SEPARATOR = re.compile(f"({SEPARATOR.pattern})(?={FORMULA})")


class _Lines(list[str]):
    """What csv.writer writes to: lines gathered until they are sent."""

    def write(self, line: str) -> None:
        self.append(line)

    def taken(self) -> bytes:
        content = "".join(self).encode()
        self.clear()
        return content


def csv_chunks(renderings: Iterable[str]) -> Iterator[bytes]:
    """The header and a line for each stored rendering, a few hundred at a time."""
    lines = _Lines()
    writer = csv.writer(lines)
    writer.writerow(EXPORT_COLUMNS)
    for rendering in renderings:
        writer.writerow([_cell(value) for value in orjson.loads(rendering).values()])
        if len(lines) >= ROWS_OF_A_CHUNK:
            yield lines.taken()
    yield lines.taken()


def _cell(value: Any) -> Any:
    """A cell that no spreadsheet runs: what starts like a formula gets an apostrophe before it."""
    if isinstance(value, list):
        value = ";".join(value)
    if isinstance(value, str):
        if SEPARATOR.search(value):
            value = AFTER_SEPARATOR.sub(r"\1'", value)
        return f"'{value}" if AT_START.match(value) else value
    return "" if value is None else value
