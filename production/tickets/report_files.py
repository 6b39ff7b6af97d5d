"""Reports as CSV and as JSON, and the reports in files of a return folder, by the file extension."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from production.interface import Report
from production.tickets.reports import FIELDS, check_count, decode_body, read_json, report_from_values
from production.tickets.xjmf import read_xjmf

VERSION = 1
REQUIRED = ("JobNumber", "State")
SEPARATORS = ",;\t"


def read_json_reports(body: bytes) -> Sequence[Report]:
    reports = _read_list(read_json(body, constant=_refuse_constant))
    check_count(len(reports))
    return [_json_report(report, f"Report {position}") for position, report in enumerate(reports, 1)]


def _read_list(content: Any) -> list[Any]:
    if isinstance(content, dict) and "Reports" in content:
        version = content.get("Version", VERSION)
        if version != VERSION or isinstance(version, bool):
            raise ValueError(f"Version is {json.dumps(version)[:60]}; it must be {VERSION}.")
        if unknown := sorted(set(content) - {"Version", "Reports"}):
            raise ValueError(f"{unknown[0][:60]} is not an allowed member. Allowed: Version, Reports.")
        content = content["Reports"]
    elif isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        raise ValueError('Write a report, a list of reports, or {"Version": 1, "Reports": [...]}.')
    return content


def _json_report(report: Any, where: str) -> Report:
    if not isinstance(report, dict):
        raise ValueError(f"{where}: it must be an object with the members {', '.join(FIELDS)}.")
    for name, value in report.items():
        if name not in FIELDS:
            raise ValueError(f"{where}: there is no member {name[:60]}. Members are {', '.join(FIELDS)}.")
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{where}: {name} must be text.")
    values = {name: value or "" for name, value in report.items()}
    return report_from_values(values, where=where, raw=json.dumps(report, ensure_ascii=False, sort_keys=True))


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON.")


def read_csv_reports(body: bytes) -> Sequence[Report]:
    """Columns may be in any order, separated by comma, semicolon or tab."""
    text = decode_body(body)
    first = text.replace("\r", "\n").partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        columns = _read_columns(next(rows, []))
        reports: list[Report] = []
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            check_count(len(reports) + 1)
            reports.append(_read_report(columns, row, rows.line_num, separator))
    except csv.Error as error:
        raise ValueError(f"Line {rows.line_num}: this is not CSV: {error}.") from error
    return reports


def _read_columns(head: Sequence[str]) -> list[str]:
    names = {_simplify_name(name): name for name in FIELDS}
    columns = []
    for cell in head:
        if _simplify_name(cell) not in names:
            raise ValueError(f"Line 1: there is no column “{cell[:60]}”. Columns may be {', '.join(FIELDS)}.")
        columns.append(names[_simplify_name(cell)])
    for name in REQUIRED:
        if name not in columns:
            raise ValueError(f"Line 1: the column {name} is missing.")
    if len(set(columns)) < len(columns):
        raise ValueError("Line 1: a column appears twice.")
    return columns


def _read_report(columns: list[str], row: list[str], line: int, separator: str) -> Report:
    if len(row) != len(columns):
        raise ValueError(f"Line {line}: it has {len(row)} fields, but line 1 has {len(columns)} columns.")
    return report_from_values(
        dict(zip(columns, row, strict=True)), where=f"Line {line}", raw=separator.join(row)
    )


def _simplify_name(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name).lower()


READERS: Mapping[str, Callable[[bytes], Sequence[Report]]] = {
    ".csv": read_csv_reports,
    ".json": read_json_reports,
    ".xjdf": read_xjmf,
    ".xjmf": read_xjmf,
    ".xml": read_xjmf,
}
REPORT_SUFFIXES = frozenset(READERS)


def read_report_file(name: str, body: bytes) -> Sequence[Report]:
    """Raises ValueError with the name of the file in front."""
    reader = READERS.get(PurePosixPath(name).suffix.lower())
    if reader is None:
        raise ValueError(f"{name}: reports are read from {', '.join(sorted(READERS))}.")
    try:
        return reader(body)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
