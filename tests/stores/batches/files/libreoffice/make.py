"""Makes the files of this folder with LibreOffice: `python tests/stores/batches/files/libreoffice/make.py soffice`."""

import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import openpyxl

HERE = Path(__file__).parent
AS_SHOWN = "csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,true,true"
NUMBERS = [
    0,
    1,
    5,
    2138,
    2138.5,
    -7,
    -1234.567,
    0.125,
    0.005,
    1234567.891,
    5550100,
    6175550100,
    1e-5,
    99999.5,
    0.5,
]
NUMBER_FORMATS = [
    *(
        "General",
        "0",
        "00000",
        "0.00",
        "#,##0",
        "#,##0.00",
        "0%",
        "0.00%",
        "0.00E+00",
        "0.0#",
        "#.##",
        "#",
        "@",
    ),
    *(
        '"$"#,##0.00',
        "[$€-407]\\ #,##0.00",
        "00000\\-0000",
        "000\\-00\\-0000",
        '0.0"x"',
        '0 "pcs"',
        "+0;-0;0",
    ),
    *(
        "#,##0;(#,##0)",
        "#,##0.00_);[Red](#,##0.00)",
        '0;-0;"none"',
        '"No. "0000',
        "0,",
        '0.0,,"M"',
        '"A"00"B"00',
    ),
    "[<=9999999]###\\-####;\\(###\\)\\ ###\\-####",
]
CARDS = [
    ("Ada Lovelace", "ada@print.example"),
    ("Alan Turing", "nowhere"),
    ("Grace Hopper", "grace@print.example"),
]
MOMENTS = [61, 45000, 45000.5, 45123.654321, 46112.0416666667]
DATE_FORMATS = [
    *(
        "yyyy-mm-dd",
        "m/d/yyyy",
        "mm/dd/yy",
        "d.m.yyyy",
        "dd.mm.yyyy",
        "d-mmm-yy",
        "d mmmm yyyy",
        "mmm yy",
        "ddd",
    ),
    *(
        "dddd, mmmm d, yyyy",
        "[$-409]mmmm d, yyyy",
        'yyyy"年"m"月"d"日"',
        "mmmmm",
        "yyyy-mm-dd hh:mm",
        "h:mm AM/PM",
    ),
    *("hh:mm:ss", "[h]:mm", "mm:ss", "dd/mm/yyyy hh:mm:ss", 'h"h"mm'),
]


def formats() -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    for codes, values in ((NUMBER_FORMATS, NUMBERS), (DATE_FORMATS, MOMENTS)):
        for code in codes:
            for value in values:
                sheet.append([code, repr(value), value])
                sheet.cell(sheet.max_row, 3).number_format = code
    return book


def people() -> openpyxl.Workbook:
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "People"
    sheet.append(["Name", "ZIP", "Since", "Phone", "Mail", "Share"])
    for number, name in enumerate(["Dana Lee", "Zoë Ångström", "李小龍"], start=2):
        mail = f'=LOWER(SUBSTITUTE(A{number}," ","."))&"@example.com"'
        sheet.append([name, 2137 + number, date(2026, 2, number), 6175550100 + number, mail, 0.125])
        formats = {"B": "00000", "C": "dd.mm.yyyy", "D": "\\(000\\)\\ 000\\-0000", "F": "0.0%"}
        for column, code in formats.items():
            sheet[f"{column}{number}"].number_format = code
    sheet.row_dimensions[3].hidden = True
    book.create_sheet("Old").append(["Name"])
    book["Old"].sheet_state = "hidden"
    return book


def cards() -> openpyxl.Workbook:
    """The file of the story in the browser: its ZIP codes are numbers that show five digits."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Cards"
    sheet.append(["Full name", "Mail", "Addressee", "Street", "Town", "Zip", "Land"])
    for number, (name, mail) in enumerate(CARDS, start=2):
        sheet.append([name, mail, f"=A{number}", "77 Massachusetts Avenue", "Cambridge", 2139, "US"])
        sheet[f"F{number}"].number_format = "00000"
    return book


def convert(book: openpyxl.Workbook, name: str, target: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / name
        book.save(source)
        subprocess.run(
            [sys.argv[1], "--headless", "--convert-to", target, "--outdir", HERE, source], check=True
        )


if __name__ == "__main__":
    convert(formats(), "formats.xlsx", AS_SHOWN)
    convert(people(), "people.xlsx", "xlsx")
    convert(cards(), "cards.xlsx", "xlsx")
