"""Row files that mean harm. Those of the first kind show it in their directory."""

import io
import struct
import zipfile
from pathlib import Path

from tests.support.batches.row_files import (
    MAIN,
    RELATIONS,
    STYLES,
    relation,
    sheet_xml,
    workbook,
    workbook_parts,
    zipped,
)

ROWS = [["Name", "ZIP"], ["Dana Lee", "02139"]]
SHEET = sheet_xml(ROWS)
LONG_CELL = "<c t='s'><v>0</v></c>"
MERGED = "<mergeCell ref='A2:A1048576'/>"
LAUGHS = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 10))


# Of `shown_when_read`, those that are refused before a process starts all the same, and as what.
SHOWN_AT_THE_START = {
    "laughs": "file_declares_entities",
    "entity from outside": "file_declares_entities",
    "entity in UTF-16": "file_declares_entities",
    "document type from outside": "file_declares_entities",
    "entity in the styles": "file_declares_entities",
    "size that lies": "file_damaged",
    "elements in elements": "file_damaged",
    "no XML": "file_damaged",
    "cells of 100,000 columns": "too_many_columns",
    "names of a million columns": "too_many_columns",
    "a million separators": "too_many_columns",
    "object of 100,000 names": "too_many_columns",
}


def shown_in_directory() -> dict[str, bytes]:
    return {
        "unpacks to a gigabyte": with_sizes(1 << 30),
        "unpacks a thousandfold": workbook(sheet_xml(ROWS, rest=" " * (20 << 20))),
        "70,000 parts": _with_end(parts=65_000, directory=0),
        "directory of a megabyte": _with_end(parts=3, directory=1 << 20),
        "directory for large archives": _with_large_directory(),
        "two parts of one name": _twice(),
        "password": workbook(SHEET).replace(
            b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
        ),
        "other compression": _compressed(zipfile.ZIP_LZMA),
        "end cut off": workbook(SHEET)[:-30],
        "no directory": b"PK\x03\x04" + bytes(200),
        "archive of pictures": zipped({"a.png": "x"}),
        "OpenDocument": zipped({"content.xml": "<x/>"}),
        "binary workbook": zipped({"xl/workbook.bin": "x"}),
        "old workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        "PDF": b"%PDF-1.7\n",
        "web page": b"<!DOCTYPE html><html><table><tr><td>x</table>",
        "gzip": b"\x1f\x8b\x08\x00" + bytes(30),
        "UTF-32": "Name\nx\n".encode("utf-32"),
        "no workbook": b"Name,ZIP\n",
    }


def shown_when_read(secret: Path, port: int) -> dict[str, bytes]:
    """None may bring `secret` to light or reach the port."""
    outside = f"<!ENTITY s SYSTEM 'file://{secret}'><!ENTITY w SYSTEM 'http://127.0.0.1:{port}/x'>"
    entity = "<row r='3'><c r='A3' t='inlineStr'><is><t>&s;&w;</t></is></c></row></sheetData>"
    return {
        "laughs": workbook(_declared(LAUGHS, SHEET.replace("Dana Lee", "&l9;"))),
        "entity from outside": workbook(_declared(outside, SHEET.replace("</sheetData>", entity))),
        "entity in UTF-16": zipped(
            {**workbook_parts(""), "xl/worksheets/sheet1.xml": _utf16(_declared(outside, SHEET))}
        ),
        "document type from outside": workbook(f"<!DOCTYPE x SYSTEM 'http://127.0.0.1:{port}/x'>{SHEET}"),
        "entity in the styles": _with_part("xl/styles.xml", _declared(LAUGHS, STYLES)),
        "size that lies": with_sizes(100),
        "cells of 100,000 columns": workbook(_row("<c><v>1</v></c>" * 100_000)),
        "column beyond the last": workbook(_row("<c r='ZZZZ1'><v>1</v></c>")),
        "row beyond the last": workbook(SHEET.replace('r="2"', 'r="99999999"')),
        "rows backwards": workbook(SHEET.replace('<row r="2"', '<row r="1"')),
        "elements in elements": workbook(f"<worksheet>{'<a>' * 100_000}{'</a>' * 100_000}</worksheet>"),
        "100,000 merged cells": workbook(
            sheet_xml(ROWS, rest=f"<mergeCells>{MERGED * 100_000}</mergeCells>")
        ),
        "text that is not there": workbook(_row("<c r='A1' t='s'><v>7</v></c>")),
        "sheet of another folder": _with_relation("worksheet", "../../../../../../etc/passwd"),
        "sheet of another address": _with_relation(
            "worksheet", f"http://127.0.0.1:{port}/x", "TargetMode='External'"
        ),
        "one long text in every cell": _long_text(),
        "long head and many faults": workbook(_row(f"<c t='inlineStr'><is><t>{'x' * 90_000}</t></is></c>")),
        "no XML": workbook("\0\1\2"),
        "names of a million columns": (",".join(map(str, range(1_000_000))) + "\n1\n").encode(),
        "a million separators": b"a,b\n" + b"," * 1_000_000 + b"\n",
        "line without end": b"Name\n" + b"x" * (5 << 20),
        "quote without end": b'Name\n"' + b"x\n" * (2 << 20),
        "array in arrays": b"[" * 500_000,
        "object of 100,000 names": b"[{" + b",".join(b'"%d":1' % n for n in range(100_000)) + b"}]",
        "text of a megabyte": b'[{"a":"' + b"x" * (2 << 20) + b'"}]',
    }


def with_sizes(size: int) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in workbook_parts(SHEET.replace("</row>", "</row>" + " " * (1 << 20))).items():
            archive.writestr(name, content)
        archive.getinfo("xl/worksheets/sheet1.xml").file_size = size
    return target.getvalue()


def _long_text() -> bytes:
    heads = "".join(f"<c t='str'><v>{place}</v></c>" for place in range(200))
    rows = f"<row>{LONG_CELL * 200}</row>" * 20
    parts = workbook_parts(_row(heads).replace("</sheetData>", f"{rows}</sheetData>"))
    name = "xl/_rels/workbook.xml.rels"
    texts = relation("r9", "sharedStrings", "texts.xml")
    parts[name] = parts[name].replace("</Relationships>", f"{texts}</Relationships>")
    parts["xl/texts.xml"] = f"<sst xmlns='{MAIN}'><si><t>{'long ' * 6_000}</t></si></sst>"
    return zipped(parts)


def _declared(entities: str, xml: str) -> str:
    return f"<!DOCTYPE x [{entities}]>{xml}"


def _utf16(xml: str) -> bytes:
    return f"<?xml version='1.0' encoding='UTF-16'?>{xml}".encode("utf-16")


def _row(cells: str) -> str:
    return f"<worksheet xmlns='{MAIN}'><sheetData><row r='1'>{cells}</row></sheetData></worksheet>"


def _with_part(name: str, content: str) -> bytes:
    return zipped({**workbook_parts(SHEET), name: content})


def _with_relation(kind: str, target: str, more: str = "") -> bytes:
    xml = f"<Relationships xmlns='{RELATIONS}'>{relation('r1', kind, target, more)}</Relationships>"
    return _with_part("xl/_rels/workbook.xml.rels", xml)


def _with_end(*, parts: int, directory: int) -> bytes:
    content = workbook(SHEET)
    position = content.rindex(b"PK\x05\x06")
    return content[:position] + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, parts, parts, directory, 0, 0)


def _with_large_directory() -> bytes:
    content = workbook(SHEET)
    position = content.rindex(b"PK\x05\x06")
    return content[:position] + struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 1) + content[position:]


def _twice() -> bytes:
    return _compressed(zipfile.ZIP_DEFLATED, twice=True)


def _compressed(method: int, *, twice: bool = False) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in workbook_parts(SHEET).items():
            archive.writestr(name, content)
        if twice:
            archive.filelist.append(archive.filelist[-1])
    return target.getvalue()
