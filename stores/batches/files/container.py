"""Looks into the directory of an XLSX file before anything in it is unpacked."""

import struct
import zipfile
import zlib
from pathlib import Path

from stores.batches.files.records import RowFileRefused, file_error
from stores.batches.files.rows import too_many_columns

# Which kind of file it is, by its first bytes: names and content types are often wrong.
XLSX_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
SAVE_AS = "Save it as XLSX or CSV and upload that file."
_OTHERS = {
    b"\xd0\xcf\x11\xe0": ("file_is_old_excel", "The file is an old Excel workbook, or has a password."),
    b"%PDF": ("file_is_pdf", "The file is a PDF."),
    b"\x1f\x8b": ("file_is_compressed", "The file is compressed."),
    b"\x89PNG": ("file_is_picture", "The file is a picture."),
    b"\xff\xd8\xff": ("file_is_picture", "The file is a picture."),
    b"\xff\xfe\x00\x00": ("file_is_utf32", "The file is in UTF-32."),
    b"\x00\x00\xfe\xff": ("file_is_utf32", "The file is in UTF-32."),
}
_WEB_PAGE = (b"<!doctype", b"<html", b"<?xml", b"<table")
# A workbook of Excel has some twenty parts.
MAX_PARTS = 1000
DIRECTORY_BYTES = 256 * 1024
# The size of the parts that are read, which are XML.
UNPACKED_BYTES = 200 * 1024 * 1024
RATIO = 100
# Small parts repeat themselves: empty sheets unpack to a hundred times their size.
RATIO_FROM = 4 * 1024 * 1024
BEGINNING = 1024
LOOKED_AT = 512 * 1024
LAST_COLUMN = 16_384
# Elements of a workbook lie in some ten others.
MAX_DEPTH = 1000
_END = struct.Struct("<4s4H2LH")
_END_SIGNATURE, _LARGE_SIGNATURE = b"PK\x05\x06", b"PK\x06\x07"
_ENCRYPTED = 0x1
_OTHER_PARTS = {
    "content.xml": "The file is an OpenDocument sheet.",
    "xl/workbook.bin": "The file is a binary Excel workbook (XLSB).",
    "Index/Document.iwa": "The file is a sheet of Numbers.",
    "word/document.xml": "The file is a text document.",
}
AGAIN = "Open it in Excel or LibreOffice, save it again as XLSX and upload that file."


def file_kind(path: Path, content_type: str, name: str) -> str:
    """`csv`, `xlsx` or `json`."""
    with path.open("rb") as stream:
        start = stream.read(512)
    if not start.strip():
        raise file_error(
            "file_empty", "The file is empty.", "Upload a file with a row of headers and rows below it."
        )
    for magic, (code, message) in _OTHERS.items():
        if start.startswith(magic):
            raise file_error(code, message, SAVE_AS)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return "xlsx"
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == XLSX_TYPE or (name.lower().endswith((".xlsx", ".xlsm")) and "text/" not in media_type):
        raise file_error("file_not_xlsx", "The file is not an XLSX workbook, though it is named so.", SAVE_AS)
    text = (
        start.replace(b"\0", b"")
        .removeprefix(b"\xef\xbb\xbf")
        .removeprefix(b"\xff\xfe")
        .removeprefix(b"\xfe\xff")
    )
    if text.lstrip().lower().startswith(_WEB_PAGE):
        raise file_error("file_is_web_page", "The file is a web page or XML, not a table.", SAVE_AS)
    if media_type.endswith("json") or (
        name.lower().endswith(".json") and not media_type.startswith("text/csv")
    ):
        return "json"
    # A CSV named by nothing may start with a bracket; an array of objects starts with both.
    return "json" if not media_type and text.split()[:1] in ([b"[{"], [b"["]) else "csv"


def damaged_file(detail: str = "") -> RowFileRefused:
    return file_error("file_damaged", f"The XLSX file is damaged{detail}.", AGAIN)


def entities_declared(part: str) -> RowFileRefused:
    return file_error(
        "file_declares_entities",
        f"The part {part[:100]} of the XLSX file declares entities, which no spreadsheet does.",
        AGAIN,
    )


def check_container(path: Path) -> None:
    """Raises RowFileRefused for what is no workbook, unpacks to too much, or begins with entities, in milliseconds."""
    _check_directory_size(path)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
        raise damaged_file() from error
    names = [part.filename for part in parts]
    for name, message in _OTHER_PARTS.items():
        if name in names:
            raise file_error("file_not_xlsx", message, SAVE_AS)
    if "xl/workbook.xml" not in names and "[Content_Types].xml" not in names:
        raise file_error("file_not_xlsx", "The file is a ZIP archive, not an XLSX workbook.", SAVE_AS)
    if len(set(names)) < len(names):
        raise damaged_file(": it holds two parts of one name")
    if any(part.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED} for part in parts):
        raise damaged_file(": it is compressed in an unusual way")
    if any(part.flag_bits & _ENCRYPTED for part in parts):
        raise file_error("file_encrypted", "The file has a password.", "Save it without a password.")
    xml_parts = [part for part in parts if part.filename.lower().endswith((".xml", ".rels"))]
    _check_sizes(xml_parts)
    _check_beginnings(path, xml_parts)


def _check_directory_size(path: Path) -> None:
    size = path.stat().st_size
    with path.open("rb") as stream:
        stream.seek(max(0, size - 66_000))
        tail = stream.read()
    end = tail.rfind(_END_SIGNATURE)
    if end < 0 or len(tail) - end < _END.size:
        raise damaged_file(": its end is missing")
    _, _, _, _, parts, directory, _, _ = _END.unpack_from(tail, end)
    # Only archives of more than 4 GB or 65,535 parts need the larger directory, whose sizes stand elsewhere.
    is_large = tail[max(0, end - 20) : end].startswith(_LARGE_SIGNATURE)
    if is_large or parts > MAX_PARTS or directory > DIRECTORY_BYTES:
        raise file_error(
            "file_too_complex",
            f"The XLSX file has {parts:,} parts; at most {MAX_PARTS:,} are allowed.",
            AGAIN,
        )


def _check_beginnings(path: Path, parts: list[zipfile.ZipInfo]) -> None:
    """What this quick look misses is found when the parts are read."""
    remaining = LOOKED_AT
    try:
        with zipfile.ZipFile(path) as archive:
            for part in parts:
                with archive.open(part) as stream:
                    start = stream.read(
                        remaining if part.filename.startswith("xl/worksheets/") else BEGINNING
                    )
                remaining = max(BEGINNING, remaining - len(start))
                _check_beginning(part.filename, start)
    except (zipfile.BadZipFile, zlib.error, ValueError, NotImplementedError, OSError, EOFError) as error:
        raise damaged_file() from error


def _check_beginning(part: str, start: bytes) -> None:
    start = start.replace(b"\0", b"")  # of UTF-16
    text = start[:BEGINNING].lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    if b"<!DOCTYPE" in text:
        raise entities_declared(part)
    if text and not text.startswith(b"<"):
        raise damaged_file(f" in its part {part[:100]}")
    ends = 2 * start.count(b"</") + sum(map(start.count, (b"/>", b"<?", b"<!")))
    if start.count(b"<") - ends > MAX_DEPTH:
        raise damaged_file(f": elements of its part {part[:100]} are nested too deeply")
    for number, row in enumerate(start.split(b"<row")):
        cells = sum(map(row.count, (b"<c>", b"<c ", b"<c/")))
        if cells > LAST_COLUMN:
            raise too_many_columns(cells, number)


def _check_sizes(parts: list[zipfile.ZipInfo]) -> None:
    unpacked = sum(part.file_size for part in parts)
    ratio = max(
        (part.file_size / max(1, part.compress_size) for part in parts if part.file_size > RATIO_FROM),
        default=0,
    )
    if unpacked > UNPACKED_BYTES or ratio > RATIO:
        raise file_error(
            "file_unpacks_too_large",
            f"The XLSX file unpacks to {unpacked:,} bytes, {ratio:,.0f} times its size. "
            f"At most {UNPACKED_BYTES:,} bytes and {RATIO} times are allowed.",
            "Copy the rows into a new sheet without formatting, or save them as CSV.",
        )
