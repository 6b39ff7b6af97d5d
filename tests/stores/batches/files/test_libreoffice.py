import csv
import time
from pathlib import Path

import pytest

from stores.batches.files.number_formats import format_number
from stores.batches.files.reading import read_rows

MADE = Path(__file__).parent / "libreoffice"


def test_numbers_and_dates_look_as_in_libreoffice():
    with (MADE / "formats.csv").open(encoding="utf-8", newline="") as lines:
        cells = list(csv.reader(lines))

    assert len(cells) == 520
    assert [
        (code, value, expected, ours)
        for code, value, expected in cells
        if (ours := (format_number(float(value), code) or "").strip()) != expected.strip()
    ] == []


@pytest.mark.parametrize(
    ("number", "code", "expected"),
    [
        (1e308, "0.00", f"1{'0' * 308}.00"),
        (-1e28, "#,##0.0", f"-10,{','.join(['000'] * 9)}.0"),
        (12.5, ".00", "12.50"),
        (0.5, ".00", ".50"),
        (44000.5, "ss." + "0" * 20, "00.000000"),
        (1.5, "[<1.2.3]0.0", "1.5"),
        (1.5, "[<.]0.0", "1.5"),
        (0.5, '[<.6]"low";0', "low"),
    ],
)
def test_unusual_numbers_and_formats_lose_no_digit(number, code, expected):
    assert format_number(number, code) == expected


@pytest.mark.parametrize("code", ["m " * 127, "h" + " m" * 19, "0-" * 127, "%" * 254 + "0"])
def test_long_formats_take_no_longer_than_others(code):
    """A workbook of 7 kB with 40,000 cells took a minute."""
    begun = time.process_time()

    for number in range(2000):
        format_number(number + 0.5, code)

    assert time.process_time() - begun < 0.4


def test_numbers_in_a_format_of_too_many_parts_are_general():
    assert [format_number(41000.5, "d-" * count) for count in (20, 21)] == ["1-" * 20, "41000.5"]


def test_a_workbook_of_libreoffice_is_read_as_it_looks():
    table = read_rows(path=MADE / "people.xlsx", content_type="", name="people.xlsx", max_rows=10)

    assert [row.values for row in table.rows] == [
        {"Name": name, "ZIP": code, "Since": day, "Phone": phone, "Mail": mail, "Share": "12.5%"}
        for name, code, day, phone, mail in [
            ("Dana Lee", "02139", "02.02.2026", "(617) 555-0102", "dana.lee@example.com"),
            ("Zoë Ångström", "02140", "03.02.2026", "(617) 555-0103", "zoë.ångström@example.com"),
            ("李小龍", "02141", "04.02.2026", "(617) 555-0104", "李小龍@example.com"),
        ]
    ]
    assert [[problem["Code"] for problem in row.problems] for row in table.rows] == [[], ["row_hidden"], []]
    assert [(problem.code, problem.value) for problem in table.problems] == [("sheet_hidden", "Old")]
    assert table.dialect == {"format": "xlsx", "sheet": "People"}
