import csv
from pathlib import Path

from stores.batches.files.number_formats import shown
from stores.batches.files.reading import read_rows

MADE = Path(__file__).parent / "libreoffice"


def test_numbers_and_dates_look_as_in_libreoffice():
    with (MADE / "formats.csv").open(encoding="utf-8", newline="") as lines:
        cells = list(csv.reader(lines))

    assert len(cells) == 520
    assert [
        (code, value, expected, ours)
        for code, value, expected in cells
        if (ours := (shown(float(value), code) or "").strip()) != expected.strip()
    ] == []


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
    assert [[problem.code for problem in row.problems] for row in table.rows] == [[], ["row_hidden"], []]
    assert [(problem.code, problem.value) for problem in table.problems] == [("sheet_hidden", "Old")]
    assert table.dialect == {"format": "xlsx", "sheet": "People"}
