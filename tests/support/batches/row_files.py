"""Row files in every dialect, made of the same cells."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from openpyxl.utils import get_column_letter

from stores.batches.files.container import check_container, file_kind
from stores.batches.files.parsing import parse
from stores.batches.files.reading import table_from_reply
from stores.batches.files.records import FileFault, RowFileRefused, Table

ENCODINGS = {
    "UTF-8": ("utf-8", b""),
    "UTF-8 with BOM": ("utf-8", b"\xef\xbb\xbf"),
    "UTF-16LE": ("utf-16-le", b"\xff\xfe"),
    "UTF-16BE": ("utf-16-be", b"\xfe\xff"),
    "Windows-1252": ("cp1252", b""),
}
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
CSV_DIALECTS = [f"{encoding} {separator}" for encoding in ENCODINGS for separator in SEPARATORS]
DIALECTS = [*CSV_DIALECTS, "XLSX", "JSON"]
# Characters that stand escaped in a workbook.
NOT_XML = {*map(chr, range(32)), "\ufffe", "\uffff"} - {"\t", "\n"}
Rows = Sequence[Sequence[str]]


def separator_of(dialect: str) -> str:
    return SEPARATORS[dialect.rpartition(" ")[2]]


def encoded(text: str, dialect: str) -> bytes:
    encoding, bom = ENCODINGS[dialect.rpartition(" ")[0]]
    return bom + text.encode(encoding)


def csv_text(rows: Rows, separator: str) -> str:
    return "".join(separator.join(_quoted(cell, separator) for cell in row) + "\r\n" for row in rows)


def _quoted(cell: str, separator: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in f'"\r\n{separator}') else cell


def file_of(rows: Rows, dialect: str) -> bytes:
    if dialect == "XLSX":
        return workbook(sheet_xml(rows))
    if dialect == "JSON":
        heads, *others = rows
        return json.dumps(
            [dict(zip(heads, row, strict=False)) for row in others], ensure_ascii=False
        ).encode()
    return encoded(csv_text(rows, separator_of(dialect)), dialect)


def cell_xml(reference: str, text: str) -> str:
    kept = "".join(f"_x{ord(char):04X}_" if char in NOT_XML else char for char in text)
    return f'<c r="{reference}" t="inlineStr"><is><t xml:space="preserve">{escape(kept)}</t></is></c>'


def sheet_xml(rows: Rows, *, cells: dict[str, str] | None = None, rest: str = "", before: str = "") -> str:
    """`cells` replaces the XML of single cells."""
    lines = []
    for number, row in enumerate(rows, start=1):
        line = ""
        for place, text in enumerate(row):
            reference = f"{get_column_letter(place + 1)}{number}"
            line += (cells or {}).get(reference) or (cell_xml(reference, text) if text else "")
        lines.append(f'<row r="{number}">{line}</row>')
    return f"<worksheet xmlns='{MAIN}'>{before}<sheetData>{''.join(lines)}</sheetData>{rest}</worksheet>"


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
# Styles 1 to 3: a ZIP code, a date, a date without a format of its own.
STYLES = (
    f"<styleSheet xmlns='{MAIN}'><numFmts><numFmt numFmtId='164' formatCode='00000'/>"
    "<numFmt numFmtId='165' formatCode='dd.mm.yyyy'/></numFmts>"
    "<cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='165'/><xf numFmtId='14'/></cellXfs></styleSheet>"
)


def relation(key: str, kind: str, target: str, more: str = "") -> str:
    return f"<Relationship Id='{key}' Type='{OFFICE}/{kind}' Target='{target}' {more}/>"


def workbook_parts(sheet: str, *, sheets: str = "<sheet name='Rows' r:id='r1'/>") -> dict[str, str]:
    return {
        "[Content_Types].xml": "<Types xmlns='http://schemas.openxmlformats.org/package/2006/content-types'/>",
        "_rels/.rels": f"<Relationships xmlns='{RELATIONS}'>{relation('r1', 'officeDocument', 'xl/workbook.xml')}"
        "</Relationships>",
        "xl/workbook.xml": f"<workbook xmlns='{MAIN}' xmlns:r='{OFFICE}'><sheets>{sheets}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships xmlns='{RELATIONS}'>"
        + relation("r1", "worksheet", "worksheets/sheet1.xml")
        + relation("r2", "worksheet", "/xl/worksheets/sheet2.xml")
        + relation("r3", "styles", "styles.xml")
        + "</Relationships>",
        "xl/styles.xml": STYLES,
        "xl/worksheets/sheet1.xml": sheet,
    }


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return target.getvalue()


def workbook(sheet: str, **options: str) -> bytes:
    return zipped({**workbook_parts(sheet, **options)})


def table_in_this_process(content: bytes, folder: Path, *, name: str = "", max_rows: int = 100) -> Table:
    """As `read_rows`, without the third of a second that a process takes to start."""
    path = folder / "sent"
    path.write_bytes(content)
    kind = file_kind(path, "", name)
    if kind == "xlsx":
        check_container(path)
    return table_from_reply(
        parse(folder, path=str(path), kind=kind, content_type="", max_rows=max_rows), folder
    )


def problems_of(table: Table) -> Iterator[FileFault]:
    yield from table.problems
    for row in table.rows:
        for problem in row.problems:
            yield FileFault(
                problem["Code"],
                problem["Message"],
                problem["Remedy"],
                problem["Value"],
                problem["Severity"],
                row.number,
                problem["Column"],
            )


def problems_in(content: bytes, folder: Path, **options: Any) -> list[FileFault]:
    try:
        return list(problems_of(table_in_this_process(content, folder, **options)))
    except RowFileRefused as refusal:
        return [refusal.problem]
