"""Every fault is named with its row, its column and a remedy in each dialect that can hold it."""

import json

import pytest

from stores.batches.services.rows import CHECK_TASK
from tests.support.batches.batches import access_to, make_batch
from tests.support.batches.row_files import (
    CSV_DIALECTS,
    DIALECTS,
    csv_text,
    encoded,
    file_of,
    problems_in,
    separator_of,
    sheet_xml,
    table_in_this_process,
    workbook,
    workbook_parts,
    zipped,
)
from tests.support.servers.queued_jobs import work_off

HEADS = ["Name", "Title", "ZIP"]
ROWS = [HEADS, ["Dana Lee", "Clerk", "02139"], ["Zoë Ånge", "Judge", "10001"], ["Ann Po", "Notary", "94105"]]
ALL, CSV, XLSX, JSON = DIALECTS, CSV_DIALECTS, ["XLSX"], ["JSON"]
UNICODE = [dialect for dialect in DIALECTS if "1252" not in dialect]


def with_cell(text, place=1, row=2):
    rows = [list(cells) for cells in ROWS]
    rows[row][place] = text
    return rows


def text_in_cell(text, place=1, row=2):
    return lambda dialect: file_of(with_cell(text, place, row), dialect)


def lines(text):
    """`|` stands for the separator, and heads come first."""
    return lambda dialect: encoded(
        csv_text(ROWS[:2], separator_of(dialect)) + text.replace("|", separator_of(dialect)), dialect
    )


def cell(xml, **options):
    return lambda dialect: workbook(sheet_xml(ROWS, cells={"B3": xml}, **options))


def sheet(**options):
    return lambda dialect: workbook(sheet_xml(ROWS, **options))


def text(content):
    return lambda dialect: content.encode()


def other_sheet(state):
    sheets = f"<sheet name='Rows' r:id='r1'/><sheet name='Old' state='{state}' r:id='r2'/>"
    return lambda dialect: zipped(workbook_parts(sheet_xml(ROWS), sheets=sheets))


def objects(*others):
    first = dict(zip(HEADS, ROWS[1], strict=True))
    return lambda dialect: json.dumps([first, *others]).encode()


def table(rows):
    return lambda dialect: file_of(rows, dialect)


HIDDEN_ROW = sheet_xml(ROWS).replace('<row r="3">', '<row r="3" hidden="1">')
MERGED = "<mergeCells><mergeCell ref='{}'/></mergeCells>"
HIDDEN_COLUMN = "<cols><col min='2' max='2' hidden='1'/></cols>"
SPREADSHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
WIDE = [[f"c{number}" for number in range(257)], ["x"]]

# Dialects, file, code, row, column.
FAULTS = {
    "NUL": (ALL, text_in_cell("a\0b"), "control_character", 3, "Title"),
    "bell": (ALL, text_in_cell("a\x07b"), "control_character", 3, "Title"),
    "escape": (ALL, text_in_cell("\x1b[31m"), "control_character", 3, "Title"),
    "vertical tab": (ALL, text_in_cell("a\x0bb"), "control_character", 3, "Title"),
    "delete": (ALL, text_in_cell("a\x7fb"), "control_character", 3, "Title"),
    "C1 control": (UNICODE, text_in_cell("a\x85b"), "control_character", 3, "Title"),
    "text turned round": (UNICODE, text_in_cell("a\u202eb"), "control_character", 3, "Title"),
    "isolated direction": (UNICODE, text_in_cell("a\u2066b"), "control_character", 3, "Title"),
    "no character": (UNICODE, text_in_cell("a\uffffb"), "control_character", 3, "Title"),
    "half a character": (
        JSON,
        text('[{"Title": "x"}, {"Title": "a\\ud800b"}]'),
        "control_character",
        3,
        "Title",
    ),
    "replaced character": (UNICODE, text_in_cell("Z\ufffdrich"), "damaged_text", 3, "Title"),
    "broken UTF-8": (
        ["UTF-8 comma"],
        lambda dialect: file_of(with_cell("ÄÄÄÄ@"), dialect).replace(b"@", b"\xff"),
        "damaged_text",
        3,
        "Title",
    ),
    "garbled umlaut": (ALL, text_in_cell("ZÃ¼rich"), "garbled_text", 3, "Title"),
    "garbled quote": (ALL, text_in_cell("Itâ€™s"), "garbled_text", 3, "Title"),
    "long cell": (ALL, text_in_cell("x" * 32_768), "cell_too_long", 3, "Title"),
    "endless cell": (CSV, lines("Ann|" + "x" * 200_000 + "|1\r\n"), "cell_too_long", 3, "Title"),
    "formula as text": (CSV, text_in_cell("=SUM(A1:A2)"), "formula_without_value", 3, "Title"),
    "formula without value": (XLSX, cell('<c r="B3"><f>A1</f></c>'), "formula_without_value", 3, "Title"),
    "formula with empty value": (
        XLSX,
        cell('<c r="B3"><f>A1</f><v/></c>'),
        "formula_without_value",
        3,
        "Title",
    ),
    "shared formula without value": (
        XLSX,
        cell('<c r="B3"><f t="shared" si="0"/></c>'),
        "formula_without_value",
        3,
        "Title",
    ),
    "broken reference": (CSV, text_in_cell("#REF!"), "cell_error", 3, "Title"),
    "error cell": (XLSX, cell('<c r="B3" t="e"><f>A1/0</f><v>#DIV/0!</v></c>'), "cell_error", 3, "Title"),
    "not available": (CSV, text_in_cell("#N/A"), "cell_error", 3, "Title"),
    "unknown name": (CSV, text_in_cell("#NAME?"), "cell_error", 3, "Title"),
    "narrow column": (CSV, text_in_cell("########"), "cell_error", 3, "Title"),
    "shortened number": (CSV, text_in_cell("6.17555E+09"), "number_shortened", 3, "Title"),
    "very large shortened number": (CSV, text_in_cell("1E+308"), "number_shortened", 3, "Title"),
    "shortened number with comma": (CSV, text_in_cell("6,17555E+09"), "number_shortened", 3, "Title"),
    "number of 17 digits": (
        XLSX,
        cell('<c r="B3"><v>12345678901234567</v></c>'),
        "number_shortened",
        3,
        "Title",
    ),
    "no number": (XLSX, cell('<c r="B3"><v>1e999</v></c>'), "number_invalid", 3, "Title"),
    "no date": (XLSX, cell('<c r="B3" s="2"><v>-5</v></c>'), "date_invalid", 3, "Title"),
    "ZIP code of four digits": (ALL, text_in_cell("2138", 2), "zip_zeros_lost", 3, "ZIP"),
    "ZIP code of three digits": (ALL, text_in_cell("501", 2), "zip_zeros_lost", 3, "ZIP"),
    "ZIP+4 without zero": (ALL, text_in_cell("2138-1234", 2), "zip_zeros_lost", 3, "ZIP"),
    "ZIP code as a number": (
        XLSX,
        lambda dialect: workbook(sheet_xml(ROWS, cells={"C3": '<c r="C3"><v>2138</v></c>'})),
        "zip_zeros_lost",
        3,
        "ZIP",
    ),
    "cell too many": (CSV, lines("Ann|x|10001|y\r\n"), "too_many_cells", 3, "D"),
    "cell beyond the heads": (
        XLSX,
        table([*ROWS[:2], ["Ann", "x", "10001", "", "y"]]),
        "too_many_cells",
        3,
        "E",
    ),
    "cell too few": (CSV, lines("Ann|x\r\n"), "too_few_cells", 3, None),
    "quote never closed": (CSV, lines('Ann|"Judge|10001\r\nPo|x|10001\r\n'), "quote_unclosed", 3, "Title"),
    "quote closed too early": (CSV, lines('Ann|"the" judge|10001\r\n'), "quote_unclosed", 3, "Title"),
    "quote closed by the next": (
        CSV,
        lines('Ann|"Judge|1\r\nPo|"x"|10001\r\n'),
        "quote_unclosed",
        3,
        "Title",
    ),
    "equal heads": (
        [*CSV, *XLSX],
        table([["Name", "Title", "Title"], *ROWS[1:]]),
        "head_duplicate",
        1,
        "Title",
    ),
    "heads equal but for case": (
        [*CSV, *XLSX],
        table([["Name", "name"], ["x", "y"]]),
        "head_duplicate",
        1,
        "name",
    ),
    "equal names": (JSON, text('[{"a": 1, "a": 2}]'), "head_duplicate", 2, "a"),
    "empty head": ([*CSV, *XLSX], table([["Name", "", "ZIP"], *ROWS[1:]]), "head_empty", 1, "B"),
    "empty name": (JSON, objects({"": "x"}), "head_empty", 3, None),
    "control character in a head": (
        ALL,
        table([["Name", "a\x07b"], ["x", "y"]]),
        "control_character",
        None,
        "a\x07b",
    ),
    "no rows": (ALL, table([HEADS]), "no_rows", 1, None),
    "no content": (ALL, text(" \n"), "file_empty", None, None),
    "too many rows": (ALL, table([*ROWS, *[["x", "y", "10001"]] * 98]), "too_many_rows", 102, None),
    "too many columns": ([*CSV, *XLSX], table(WIDE), "too_many_columns", 1, "IW"),
    "too many names": (JSON, objects(dict.fromkeys(WIDE[0], 1)), "too_many_columns", 3, "IZ"),
    "unknown separator": (["UTF-8 comma"], text("a|b\n1|2\n"), "separator_unknown", 1, None),
    "hidden row": (XLSX, lambda dialect: workbook(HIDDEN_ROW), "row_hidden", 3, None),
    "hidden column": (XLSX, sheet(before=HIDDEN_COLUMN), "column_hidden", 1, "Title"),
    "hidden sheet": (XLSX, other_sheet("hidden"), "sheet_hidden", None, None),
    "second sheet": (XLSX, other_sheet("visible"), "sheet_ignored", None, None),
    "merged heads": (XLSX, sheet(rest=MERGED.format("B1:C1")), "head_merged", 1, "Title"),
    "merged cells": (XLSX, sheet(rest=MERGED.format("B3:B4")), "cells_merged", 3, "Title"),
    "nested object": (JSON, objects({"Title": {"a": 1}}), "value_nested", 3, "Title"),
    "nested array": (JSON, objects({"Title": [1]}), "value_nested", 3, "Title"),
    "not a number": (JSON, text('[{"Title": 1}, {"Title": NaN}]'), "number_invalid", 3, "Title"),
    "no array": (JSON, text('{"Title": 1}'), "json_not_array", None, None),
    "no object": (JSON, objects("x"), "row_not_object", 3, None),
    "cut off": (JSON, text('[{"Title": 1}, {"Title": '), "json_damaged", 3, None),
    "comma missing": (JSON, text('[{"Title": 1} {"Title": 2}]'), "json_damaged", 2, None),
    "text behind": (JSON, text('[{"Title": 1}] x'), "json_damaged", 2, None),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_faults_are_named_with_row_column_and_remedy(kind, tmp_path):
    dialects, make, code, row, column = FAULTS[kind]
    found = {}
    for dialect in dialects:
        name = "rows.json" if dialect == "JSON" else ""
        problems = problems_in(make(dialect), tmp_path, name=name)
        found[dialect] = {(problem.code, problem.column) for problem in problems}
        named = [problem for problem in problems if problem.code == code]
        if row is not None:
            found[dialect] |= {problem.row for problem in named[:1]} - {row}
        assert all(problem.message.endswith(".") and problem.remedy.endswith(".") for problem in problems)

    assert found == {dialect: {(code, column)} for dialect in dialects}


@pytest.mark.slow
@pytest.mark.django_db
def test_each_kind_of_fault_is_named_by_the_api(world):
    """Each in one of its dialects, in turn, so that all dialects are sent."""
    place = f"/store/associated/batch/{make_batch(access_to(world)).pk}"
    missed, sent = {}, set()
    # Its file has more rows than the 100 that this module reads, and fewer than a batch takes.
    kinds = {kind: one for kind, one in FAULTS.items() if kind != "too many rows"}
    for number, (kind, (dialects, make, code, row, column)) in enumerate(kinds.items()):
        dialect = dialects[number % len(dialects)]
        sent.add(dialect)
        problems = said_by_api(world.as_application(), place, make(dialect), dialect)
        row_numbers = {
            problem["Row"] for problem in problems if (problem["Code"], problem["Column"]) == (code, column)
        }
        is_placed = bool(row_numbers) and (row is None or bool(row_numbers & {row, None}))
        if not is_placed or not all(problem["Remedy"].endswith(".") for problem in problems):
            missed[kind, dialect] = problems

    assert missed == {}
    assert sent == set(DIALECTS)


def said_by_api(client, place, content, dialect):
    """All problems of the file, which have no row, and of its rows."""
    form = {"JSON": "application/json", "XLSX": SPREADSHEET}.get(dialect, "text/csv")
    response = client.generic("PUT", f"/api/v1{place}/rows", data=content, content_type=form)
    if response.status_code == 400:
        refusal = response.json()
        return [{"Row": None, "Column": None, "Remedy": refusal["detail"], **refusal}]
    assert response.status_code == 202, response.content
    work_off(CHECK_TASK)
    rows = client.call("GET", f"{place}/row?take=1000").json()
    of_rows = [{"Row": row["Number"], **problem} for row in rows for problem in row["Problems"]]
    return [*({"Row": None, **problem} for problem in response.json()["FileProblems"]), *of_rows]


@pytest.mark.django_db
@pytest.mark.parametrize("dialect", ["XLSX", "JSON"])
def test_refusal_quotes_half_a_character(world, dialect):
    place = f"/store/associated/batch/{make_batch(access_to(world)).pk}"
    head = "\ud800" + 300 * "x"
    cells = {"A1": f'<c r="A1" t="inlineStr"><is><t>_xD800_{300 * "x"}</t></is></c>'}
    contents = {
        "XLSX": workbook(sheet_xml([["x"], ["Ada"]], cells=cells)),
        "JSON": json.dumps([{head: "Ada"}]).encode(),
    }

    [problem] = said_by_api(world.as_application(), place, contents[dialect], dialect)

    assert (problem["Code"], problem["Value"][:2]) == ("head_too_long", "\ufffdx")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_sound_files_have_no_problems(dialect, tmp_path):
    rows = [
        ["Name", "Größe", "ZIP"],
        ['Dana "D" Lee', "a;b,c\td", "02139"],
        ["Zoë Ånge", "one\ntwo", "10001-0001"],
        ["+1 555", '5" x 7"', "SW1A 1AA"],
    ]
    name = "rows.json" if dialect == "JSON" else ""
    table = table_in_this_process(file_of(rows, dialect), tmp_path, name=name)

    assert list(problems_in(file_of(rows, dialect), tmp_path, name=name)) == []
    assert [list(row.values.values()) for row in table.rows] == rows[1:]
    assert [row.number for row in table.rows] == [2, 3, 4]
    assert table.columns == rows[0]


@pytest.mark.parametrize("dialect", [*CSV_DIALECTS, "XLSX"])
def test_empty_rows_are_skipped_and_counted(dialect, tmp_path):
    rows = [["", ""], ["Name", "ZIP"], ["", ""], ["Dana", "02139"], ["", ""], ["Zoë", "10001"], ["", ""]]

    table = table_in_this_process(file_of(rows, dialect), tmp_path)

    assert [(row.number, row.values["Name"]) for row in table.rows] == [(4, "Dana"), (6, "Zoë")]
    assert list(problems_in(file_of(rows, dialect), tmp_path)) == []


def test_codes_of_other_countries_are_no_zip_codes(tmp_path):
    rows = [["PLZ", "Land"], ["8001", "Schweiz"], ["1010", "AT"], ["2138", "US"]]

    (problem,) = problems_in(file_of(rows, "UTF-8 comma"), tmp_path)

    assert (problem.row, problem.column, problem.value, problem.severity) == (4, "PLZ", "2138", "Warning")
    assert "02138" in problem.remedy


def test_cells_of_workbooks_are_what_they_show(tmp_path):
    cells = {
        "B2": '<c r="B2" s="1"><v>2139</v></c>',
        "B3": '<c r="B3" s="2"><v>45000</v></c>',
        "B4": '<c r="B4" s="3"><v>45000</v></c>',
        "C2": '<c r="C2"><v>5.0</v></c>',
        "C3": '<c r="C3" t="b"><v>1</v></c>',
        "C4": '<c r="C4" t="str"><f>A1&amp;""</f><v></v></c>',
    }
    table = table_in_this_process(workbook(sheet_xml(ROWS, cells=cells)), tmp_path)

    assert [row.values["Title"] for row in table.rows] == ["02139", "15.03.2023", "2023-03-15"]
    assert [row.values["ZIP"] for row in table.rows] == ["5", "TRUE", ""]


def test_a_formula_is_named_by_its_cell(tmp_path):
    content = workbook(sheet_xml(ROWS, cells={"B3": '<c r="B3"><f>A1+1</f></c>'}))

    (problem,) = problems_in(content, tmp_path)

    assert problem.message == "Cell B3 contains a formula and no value."
    assert problem.value == "=A1+1"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_excel_s_ways_to_say_text_and_separator_are_obeyed(tmp_path, end):
    content = f'sep=;{end}Name;ZIP{end}Dana;="02139"{end}'.encode("cp1252")

    table = table_in_this_process(content, tmp_path)

    assert table.rows[0].values == {"Name": "Dana", "ZIP": "02139"}
    assert table.rows[0].number == 2


def test_numbers_in_json_keep_what_they_show(tmp_path):
    content = (
        b'[{"a": 5.0, "b": 1.50, "c": 12345678901234567890, "d": true, "e": null, "f": "0213"}, {"g": -0.5}]'
    )

    table = table_in_this_process(content, tmp_path, name="rows.json")

    assert list(table.rows[0].values.values()) == [
        "5",
        "1.50",
        "12345678901234567890",
        "true",
        "",
        "0213",
        "",
    ]
    assert table.rows[1].values["g"] == "-0.5"


def test_runs_of_formatted_text_are_one_text(tmp_path):
    reading = '<rPh sb="0" eb="1"><t>x</t></rPh>'
    runs = f'<c r="B3" t="inlineStr"><is><r><t>Chief </t></r><r><t>Judge</t></r>{reading}</is></c>'

    table = table_in_this_process(workbook(sheet_xml(ROWS, cells={"B3": runs})), tmp_path)

    assert table.rows[1].values["Title"] == "Chief Judge"
