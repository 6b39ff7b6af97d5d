import random
import socket

import pytest

from stores.batches.files import reading, rows
from stores.batches.files.container import check_container
from stores.batches.files.reading import read_rows
from stores.batches.files.records import RowFileRefused
from tests.support.batches.hostile_row_files import SHOWN_AT_THE_START, shown_in_directory, shown_when_read
from tests.support.batches.row_files import (
    file_of,
    problems_in,
    sheet_xml,
    table_in_this_process,
    workbook,
    workbook_parts,
    zipped,
)

SECRET = "SECRET of the machine"


def refusal_of(content, tmp_path, name):
    path = tmp_path / "sent"
    path.write_bytes(content)
    with pytest.raises(RowFileRefused) as refused:
        read_rows(path=path, content_type="", name=name, max_rows=20_000)
    return refused.value.problem


def problem_here(content, tmp_path):
    (problem,) = problems_in(
        content, tmp_path, name="rows.json" if content.startswith(b"[") else "", max_rows=20_000
    )
    return problem


def test_what_the_directory_shows_is_refused_before_a_process_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "run_bounded", None)

    problems = {
        name: refusal_of(content, tmp_path, "rows.xlsx") for name, content in shown_in_directory().items()
    }

    assert {name: problem.code for name, problem in problems.items()} == {
        "unpacks to a gigabyte": "file_unpacks_too_large",
        "unpacks a thousandfold": "file_unpacks_too_large",
        "70,000 parts": "file_too_complex",
        "directory of a megabyte": "file_too_complex",
        "directory for large archives": "file_too_complex",
        "two parts of one name": "file_damaged",
        "password": "file_encrypted",
        "other compression": "file_damaged",
        "end cut off": "file_damaged",
        "no directory": "file_damaged",
        "archive of pictures": "file_not_xlsx",
        "OpenDocument": "file_not_xlsx",
        "binary workbook": "file_not_xlsx",
        "old workbook": "file_is_old_excel",
        "PDF": "file_is_pdf",
        "web page": "file_not_xlsx",
        "gzip": "file_is_compressed",
        "UTF-32": "file_is_utf32",
        "no workbook": "file_not_xlsx",
    }
    assert all(problem.remedy for problem in problems.values())


def test_entities_depth_and_a_million_columns_are_refused_before_a_process_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "run_bounded", None)
    files = shown_when_read(tmp_path / "secret", 9)

    problems = {
        name: refusal_of(files[name], tmp_path, "rows.json" if files[name][:1] == b"[" else "rows").code
        for name in SHOWN_AT_THE_START
    }

    assert problems == SHOWN_AT_THE_START


@pytest.mark.parametrize(
    "content",
    [
        "a,b,c,d,e,f\r" + "1,2,3,4,5,6\r" * 6_000,
        '[{"a": "' + '\\":' * 30_000 + '"}]',
    ],
    ids=["ends of lines of an old Mac", "quotes in a value"],
)
def test_what_only_looks_like_many_columns_is_read(content, tmp_path):
    path = tmp_path / "sent"
    path.write_text(content, newline="")

    table = read_rows(
        path=path, content_type="", name="rows.json" if content[0] == "[" else "", max_rows=20_000
    )

    assert table.rows[0].values["a"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_long_sheet_in_any_encoding_is_not_taken_for_a_deep_one(encoding, tmp_path):
    rows = [["Name", "ZIP"], *([f"Person {number}", "02139"] for number in range(4_000))]
    sheet = f"<?xml version='1.0' encoding='{encoding}'?>{sheet_xml(rows)}".encode(encoding)
    path = tmp_path / "sent"
    path.write_bytes(zipped({**workbook_parts(""), "xl/worksheets/sheet1.xml": sheet}))

    check_container(path)

    assert len(sheet) > 512 * 1024


def test_a_file_beyond_the_limit_is_refused(tmp_path):
    path = tmp_path / "sent"
    with path.open("wb") as stream:
        stream.truncate(50 * 1024 * 1024 + 1)

    with pytest.raises(RowFileRefused, match="at most 52,428,800 are allowed"):
        read_rows(path=path, content_type="text/csv", name="", max_rows=1)


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


def test_hostile_files_are_refused_and_reach_nothing(tmp_path, listener):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    files = shown_when_read(secret, listener.getsockname()[1])

    problems = {name: problem_here(content, tmp_path) for name, content in files.items()}

    declared, broken, columns = "file_declares_entities", "file_damaged", "too_many_columns"
    assert {name: problem.code for name, problem in problems.items()} == {
        "laughs": declared,
        "entity from outside": declared,
        "entity in UTF-16": declared,
        "document type from outside": declared,
        "entity in the styles": declared,
        "size that lies": broken,
        "cells of 100,000 columns": columns,
        "column beyond the last": broken,
        "row beyond the last": broken,
        "rows backwards": broken,
        "elements in elements": broken,
        "100,000 merged cells": broken,
        "text that is not there": broken,
        "sheet of another folder": broken,
        "sheet of another address": "no_sheet",
        "one long text in every cell": "file_too_large",
        "long head and many faults": "head_too_long",
        "no XML": broken,
        "names of a million columns": columns,
        "a million separators": columns,
        "line without end": "cell_too_long",
        "quote without end": "quote_unclosed",
        "array in arrays": "json_damaged",
        "object of 100,000 names": columns,
        "text of a megabyte": "json_damaged",
    }
    assert SECRET not in repr(problems)
    with pytest.raises(BlockingIOError):
        listener.accept()


@pytest.mark.parametrize("dialect", ["UTF-8 comma", "UTF-16LE tab", "JSON", "XLSX"])
def test_changed_bytes_never_raise_another_error(dialect, tmp_path):
    rows = [["Name", "ZIP", "Text"], ["Dana Lee", "02139", "a,b"], ["Zoë", "10001", 'q"x']]
    sound = file_of(rows, dialect)
    chance = random.Random(dialect)

    ends = set()
    for _ in range(200):
        changed = bytearray(sound)
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        try:
            table_in_this_process(bytes(changed), tmp_path, name="rows.json" if dialect == "JSON" else "")
            ends.add("read")
        except RowFileRefused:
            ends.add("refused")

    assert ends == {"read", "refused"}


def test_a_part_at_an_impossible_place_is_damage(tmp_path):
    """The directory says that the archive begins before the file."""
    content = bytearray(workbook(sheet_xml([["Name"], ["Dana"]])))
    directory_end = content.rindex(b"PK\x05\x06")
    content[directory_end + 16 : directory_end + 20] = (
        int.from_bytes(content[directory_end + 16 : directory_end + 20], "little") + 4096
    ).to_bytes(4, "little")

    assert problem_here(bytes(content), tmp_path).code == "file_damaged"


@pytest.mark.parametrize("dialect", ["UTF-8 comma", "JSON", "XLSX"])
def test_rows_of_too_many_cells_are_refused(dialect, tmp_path, monkeypatch):
    """20,000 rows of 256 short cells took a web process 500 MB for each copy of its rows."""
    monkeypatch.setattr(rows, "MAX_CELLS", 12)
    most, more = ([["Name", "ZIP", "Text"], *[["Dana", "02139", "x"]] * count] for count in (4, 5))

    name = "rows.json" if dialect == "JSON" else ""
    table = table_in_this_process(file_of(most, dialect), tmp_path, name=name)
    problem = problem_here(file_of(more, dialect), tmp_path)

    assert len(table.rows) == 4
    assert (problem.code, problem.row) == ("file_too_large", 6)
    assert "more than 12 cells" in problem.message


@pytest.mark.parametrize("dialect", ["UTF-8 comma", "JSON", "XLSX"])
def test_rows_count_by_the_memory_that_they_take(dialect, tmp_path, monkeypatch):
    """An emoji in each cell of a file of 48 MB took a web process 360 MB, and its download 300 MB."""
    monkeypatch.setattr(rows, "MAX_TABLE_BYTES", 3_000)
    plain, wide = ([["Name"], [f"{first}{'x' * 999}"], ["é" * 999]] for first in ("x", "😀"))

    name = "rows.json" if dialect == "JSON" else ""
    table = table_in_this_process(file_of(plain, dialect), tmp_path, name=name)
    problem = problem_here(file_of(wide, dialect), tmp_path)

    assert len(table.rows) == 2
    assert (problem.code, problem.row) == ("file_too_large", 2)
    assert "more than 3,000 bytes" in problem.message


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [("MEMORY_BYTES", 8 << 20, "takes too much memory"), ("SECONDS", 0.001, "takes more than")],
)
def test_a_parser_beyond_its_limits_refuses_the_file(limit, value, said, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, limit, value)

    problem = refusal_of(b"Name\nDana Lee\n", tmp_path, "")

    assert problem.code == "file_too_complex"
    assert said in problem.message
