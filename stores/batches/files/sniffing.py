"""Which kind of file it is, by its first bytes: names and content types are often wrong."""

from pathlib import Path

from stores.batches.files.records import refused

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


def file_kind(path: Path, content_type: str, name: str) -> str:
    """`csv`, `xlsx` or `json`."""
    with path.open("rb") as stream:
        start = stream.read(512)
    if not start.strip():
        raise refused(
            "file_empty", "The file is empty.", "Upload a file with a row of headers and rows below it."
        )
    for magic, (code, message) in _OTHERS.items():
        if start.startswith(magic):
            raise refused(code, message, SAVE_AS)
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return "xlsx"
    said = content_type.partition(";")[0].strip().lower()
    if said == XLSX_TYPE or (name.lower().endswith((".xlsx", ".xlsm")) and "text/" not in said):
        raise refused("file_not_xlsx", "The file is not an XLSX workbook, though it is named so.", SAVE_AS)
    text = (
        start.replace(b"\0", b"")
        .removeprefix(b"\xef\xbb\xbf")
        .removeprefix(b"\xff\xfe")
        .removeprefix(b"\xfe\xff")
    )
    if text.lstrip().lower().startswith(_WEB_PAGE):
        raise refused("file_is_web_page", "The file is a web page or XML, not a table.", SAVE_AS)
    if said.endswith("json") or (name.lower().endswith(".json") and not said.startswith("text/csv")):
        return "json"
    # A CSV named by nothing may start with a bracket; an array of objects starts with both.
    return "json" if not said and text.split()[:1] in ([b"[{"], [b"["]) else "csv"
