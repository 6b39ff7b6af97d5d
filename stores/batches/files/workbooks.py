"""Reads the first visible sheet of an XLSX workbook."""

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stores.batches.files.container import damaged_file
from stores.batches.files.number_formats import ISO_DATE, ISO_DATE_TIME, LOCAL_DATE_TIMES, LOCAL_DATES
from stores.batches.files.records import WARNING, FileFault, Problem, file_error
from stores.batches.files.rows import MAX_PROBLEMS, RowsWriter, column_letters
from stores.batches.files.sheets import (
    Book,
    SheetMarks,
    cell_position,
    elements,
    local_name,
    read_sheet,
    string_text,
)
from stores.batches.files.spreadsheets import numbers

# The sheet of our own templates that lists what cells may hold.
ALLOWED_VALUES = "Allowed values"
MAX_NAME_LENGTH = 100
Late = dict[int, list[Problem]]
_RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STRICT_RELATION = "http://purl.oclc.org/ooxml/officeDocument/relationships"


@dataclass(frozen=True)
class _SheetName:
    name: str
    part: str
    is_hidden: bool


def read_workbook(path: Path, rows: RowsWriter, late: Late) -> dict[str, str]:
    """`late` takes the problems of rows that stand behind the rows in the file."""
    with zipfile.ZipFile(path) as archive:
        workbook = _main_part(archive)
        related = dict(_read_relations(archive, workbook))
        sheets, is_1904 = _list_sheets(archive, workbook, related)
        visible = next((sheet for sheet in sheets if not sheet.is_hidden), None)
        if visible is None:
            raise file_error(
                "no_sheet", "The workbook has no visible sheet.", "Show the sheet with the rows."
            )
        by_kind = dict(related.values())
        texts = [string_text(item) for item in _read_parts(archive, by_kind.get("sharedStrings"), "si")]
        book = Book(texts, _read_formats(archive, by_kind.get("styles")), is_1904)
        sheet = read_sheet(archive, visible.part, book, rows)
    _report_other_sheets(sheets, visible, rows)
    _report_hidden_columns(sheet, rows)
    _report_merged_cells(sheet, rows, late)
    return {"format": "xlsx", "sheet": visible.name}


def _read_parts(archive: zipfile.ZipFile, part: str | None, name: str) -> Iterator[Any]:
    return elements(archive, part, {name}) if part else iter(())


def _main_part(archive: zipfile.ZipFile) -> str:
    for kind, part in dict(_read_relations(archive, "")).values():
        if kind == "officeDocument":
            return part
    raise damaged_file(": it names no workbook")


def _read_relations(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Kind and part by their IDs; none outside of the file."""
    folder, name = posixpath.split(part)
    for element in elements(archive, posixpath.join(folder, "_rels", f"{name}.rels"), {"Relationship"}):
        if element.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", "")))
            yield element.get("Id", ""), (element.get("Type", "").rpartition("/")[2], target.lstrip("/"))


def _list_sheets(
    archive: zipfile.ZipFile, workbook: str, related: dict[str, tuple[str, str]]
) -> tuple[list[_SheetName], bool]:
    sheets: list[_SheetName] = []
    is_1904 = False
    for element in elements(archive, workbook, {"sheet", "workbookPr"}):
        if local_name(element) == "workbookPr":
            is_1904 = element.get("date1904") in {"1", "true"}
            continue
        key = element.get(f"{{{_RELATION}}}id") or element.get(f"{{{_STRICT_RELATION}}}id") or ""
        # Charts and macros have sheets of their own.
        kind, part = related.get(key, ("", ""))
        if kind == "worksheet":
            is_hidden = element.get("state", "visible") != "visible"
            sheets.append(_SheetName(element.get("name", "")[:MAX_NAME_LENGTH], part, is_hidden))
    return sheets, is_1904


def _read_formats(archive: zipfile.ZipFile, part: str | None) -> list[str]:
    """The number format of each style of cells."""
    custom: dict[str, str] = {}
    ids: list[str] = []
    if part:
        for element in elements(archive, part, {"numFmt", "cellXfs"}):
            if local_name(element) == "numFmt":
                custom[element.get("numFmtId", "")] = element.get("formatCode", "General")
            else:
                ids = [child.get("numFmtId", "0") for child in element]
    return [custom.get(number) or _built_in(number) for number in ids]


def _built_in(number: str) -> str:
    index = int(number) if number.isdecimal() and len(number) < 9 else 0
    if not index:
        # The format of nearly every cell, for which openpyxl need not be loaded.
        return "General"
    if index in LOCAL_DATES:
        return ISO_DATE
    if index in LOCAL_DATE_TIMES:
        return ISO_DATE_TIME
    return numbers.BUILTIN_FORMATS.get(index, "General")


def _report_other_sheets(sheets: list[_SheetName], visible: _SheetName, rows: RowsWriter) -> None:
    for sheet in sheets:
        if sheet is not visible and sheet.name != ALLOWED_VALUES:
            kind, word = ("sheet_hidden", "hidden sheet") if sheet.is_hidden else ("sheet_ignored", "sheet")
            fault = FileFault(
                kind,
                f"The {word} {sheet.name} is not read. Rows come from the sheet {visible.name}.",
                "Move rows that belong to the batch to that sheet.",
                sheet.name,
                WARNING,
            )
            rows.problems.append(fault.at(None, None))


def _report_hidden_columns(sheet: SheetMarks, rows: RowsWriter) -> None:
    for index, name in rows.column_indexes():
        if any(first <= index + 1 <= last for first, last in sheet.hidden_columns):
            fault = FileFault(
                "column_hidden",
                f"Column {column_letters(index)} is hidden in the sheet. It is read all the same.",
                "Delete the column if it does not belong to the batch.",
                severity=WARNING,
            )
            rows.problems.append(fault.at(rows.head_row, name))


def _report_merged_cells(sheet: SheetMarks, rows: RowsWriter, late: Late) -> None:
    """Only the first of merged cells has a value; the others are read as empty."""
    head = rows.head_row or 1
    for merged in sheet.merged:
        start, _, end = merged.partition(":")
        (column, first), (_, last) = cell_position(start), cell_position(end or start)
        fault = FileFault(
            "head_merged" if first <= head else "cells_merged",
            f"The cells {merged} are merged. Only the first has a value; the others are empty.",
            "Split the merged cells and write a value into each.",
            merged,
        )
        if first <= head <= last:
            rows.problems.append(fault.at(head, rows.name(column)))
        elif first > head:
            problem = fault.at(None, rows.name(column)).record
            for number in range(first, min(last, rows.last_row) + 1):
                problems = late.setdefault(number, [])
                if len(problems) >= MAX_PROBLEMS:
                    break
                problems.append(problem)
