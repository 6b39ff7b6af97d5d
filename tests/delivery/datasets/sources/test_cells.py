import pytest

from delivery.datasets.sources.cells import read_count, read_postal_code, read_route


@pytest.mark.parametrize(
    ("cell", "value", "flaw"),
    [
        ("84101", "84101", ""),
        (" 84101 ", "84101", ""),
        ("00501", "00501", ""),
        ("84101-1234", "84101", ""),
        ("841011234", "84101", ""),
        ("84101.0", "84101", ""),
        ('="00501"', "00501", ""),
        ("'00501", "00501", ""),
        ("501", "00501", "W_ZERO_LOST"),
        ("2108", "02108", "W_ZERO_LOST"),
        ("501.0", "00501", "W_ZERO_LOST"),
        ("841O1", "84101", "W_LETTER_O"),
        ("00000", "", "E_ZIP"),
        ("0000", "", "E_ZIP"),
        ("84", "", "E_ZIP"),
        ("841012", "", "E_ZIP"),
        ("K1A 0B1", "", "E_ZIP"),
        ("٨٤١٠١", "", "E_ZIP"),
        ("84101\n", "84101", ""),
        ("", "", "E_ZIP"),
    ],
)
def test_postal_code_cells(cell, value, flaw):
    assert read_postal_code(cell) == (value, flaw)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("C001", ("C001", "", "")),
        (" r052 ", ("R052", "", "")),
        ("84101C001", ("C001", "84101", "")),
        ("84101-C001", ("C001", "84101", "")),
        ("BOO2", ("B002", "", "W_LETTER_O")),
        ("C1", ("C001", "", "W_SHORT")),
        ("84101C12", ("C012", "84101", "W_SHORT")),
        ("X001", ("", "", "E_ROUTE")),
        ("C0001", ("", "", "E_ROUTE")),
        ("C٠٠١", ("", "", "E_ROUTE")),
        ("", ("", "", "E_ROUTE")),
    ],
)
def test_route_cells(cell, expected):
    assert read_route(cell) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("0", (0, "")),
        ("600", (600, "")),
        ("600.0", (600, "")),
        ("1,234", (1234, "W_COMMA")),
        ("—", (0, "")),
        ("-", (0, "")),
        ("99999", (99999, "")),
        ("100000", (None, "E_COUNT")),
        ("1" * 5000, (None, "E_COUNT")),
        ("-5", (None, "E_COUNT")),
        ("1,23", (None, "E_COUNT")),
        ("1.5", (None, "E_COUNT")),
        ("6e2", (None, "E_COUNT")),
        ("six", (None, "E_COUNT")),
        ("٦", (None, "E_COUNT")),
        ("", (None, "")),
    ],
)
def test_count_cells(cell, expected):
    assert read_count(cell) == expected
