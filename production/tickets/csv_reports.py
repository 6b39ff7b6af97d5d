"""Reports as CSV: a first line with the names of the columns, then one report in each line."""

import csv
import io
import re
from collections.abc import Sequence

from production.interface import Report
from production.tickets.reports import FIELDS, check_count, decoded, report_from_values

REQUIRED = ("JobNumber", "State")
SEPARATORS = ",;\t"


def read_csv_reports(body: bytes) -> Sequence[Report]:
    """Columns may be in any order, separated by comma, semicolon or tab."""
    text = decoded(body)
    first = text.partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = _columns(next(rows, []))
        reports: list[Report] = []
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            check_count(len(reports) + 1)
            reports.append(_report(columns, row, rows.line_num, separator))
    except csv.Error as error:
        raise ValueError(f"Line {rows.line_num}: this is not CSV: {error}.") from error
    return reports


def _columns(head: Sequence[str]) -> list[str]:
    known = {_plain(name): name for name in FIELDS}
    columns = []
    for cell in head:
        if _plain(cell) not in known:
            raise ValueError(f"Line 1: there is no column “{cell[:60]}”. Columns may be {', '.join(FIELDS)}.")
        columns.append(known[_plain(cell)])
    for name in REQUIRED:
        if name not in columns:
            raise ValueError(f"Line 1: the column {name} is missing.")
    if len(set(columns)) < len(columns):
        raise ValueError("Line 1: a column appears twice.")
    return columns


def _report(columns: list[str], row: list[str], line: int, separator: str) -> Report:
    if len(row) != len(columns):
        raise ValueError(f"Line {line}: it has {len(row)} fields, but line 1 has {len(columns)} columns.")
    return report_from_values(
        dict(zip(columns, row, strict=True)), where=f"Line {line}", raw=separator.join(row)
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()
