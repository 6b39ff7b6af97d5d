import io

import openpyxl
import pytest

from stores.batches.files.reading import read_rows
from stores.batches.files.records import FileFault, FileRow
from stores.batches.files.writing import TemplateColumn, annotated_file, template_file

COLUMNS = [
    TemplateColumn("Name", "Dana Lee", (), True, "As printed on the card."),
    TemplateColumn("State", "NY", ("CA", "NY"), True, ""),
    TemplateColumn("Recipient.PostalCode", "02138", (), False, "Of the address."),
]
FORMULAS = ["=1+1", "+1 555 0100", "-5", "@dana", "\tx", "\rx", "＝1", "'=1", "a;=1", "x\n=cmd|' /C calc'!A0"]


def read(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(content)
    return read_rows(path=path, content_type="", name=name, max_rows=100)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_template_reads_as_its_example(form, tmp_path):
    table = read(tmp_path, template_file(format=form, columns=COLUMNS), f"template.{form}")

    assert table.columns == ["Name", "State", "Recipient.PostalCode"]
    example = {"Name": "Dana Lee", "State": "NY", "Recipient.PostalCode": "02138"}
    assert table.rows == [FileRow(2, example, [])]
    assert table.problems == []


def test_a_csv_template_says_what_columns_take():
    text = template_file(format="csv", columns=COLUMNS).decode("utf-8-sig")

    assert "# Name: Required. As printed on the card." in text
    assert '"# State: Required. One of: CA, NY."' in text


def test_an_xlsx_template_offers_the_allowed_values():
    book = openpyxl.load_workbook(io.BytesIO(template_file(format="xlsx", columns=COLUMNS)))
    sheet = book["Rows"]

    (choice,) = sheet.data_validations.dataValidation
    assert (str(choice.sqref), choice.formula1) == ("B2:B20000", "'Allowed values'!$A$2:$A$3")
    assert [cell.value for cell in book["Allowed values"]["A"]] == ["State", "CA", "NY"]
    assert sheet["A1"].comment.text == "Required. As printed on the card."
    assert sheet.column_dimensions["C"].number_format == "@"


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_annotated_files_hold_no_formula_and_read_back_as_they_were(form, tmp_path):
    rows = [FileRow(number, {"Name": text, "=Head": "x"}) for number, text in enumerate(FORMULAS, start=2)]
    content = b"".join(annotated_file(format=form, columns=["Name", "=Head"], rows=rows))

    if form == "xlsx":
        cells = [
            cell for row in openpyxl.load_workbook(io.BytesIO(content)).active.iter_rows() for cell in row
        ]
        assert {cell.data_type for cell in cells} <= {"s", "n"}
        assert not any(str(cell.value).startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
    table = read(tmp_path, content, f"rows.{form}")
    assert table.columns == ["Name", "=Head", "Problems"]
    assert [row.values["Name"] for row in table.rows] == [
        text.replace("\r", "\n").strip() for text in FORMULAS
    ]


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_annotated_files_name_the_problems_once(form, tmp_path):
    problem = FileFault("x", "Too long.", "Shorten it.", column="Name", value="Dana").record
    rows = [FileRow(2, {"Name": "Dana", "Problems": "of last time"}, [problem]), FileRow(3, {"Name": "Lee"})]
    content = b"".join(annotated_file(format=form, columns=["Name", "Problems"], rows=rows))

    table = read(tmp_path, content, f"rows.{form}")
    assert [row.values for row in table.rows] == [
        {"Name": "Dana", "Problems": "Name: Too long. Shorten it."},
        {"Name": "Lee", "Problems": ""},
    ]
    if form == "xlsx":
        sheet = openpyxl.load_workbook(io.BytesIO(content)).active
        assert sheet["A2"].fill.fgColor.rgb == "FFFFD6D6"
        assert sheet["A3"].fill.fgColor.rgb == "00000000"
