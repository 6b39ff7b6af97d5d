import csv
import io

import pytest

from delivery.datasets import problems
from delivery.datasets.problems import MAX_LISTED, PROBLEM_HEADER, REMEDIES, ProblemLog


def test_first_thousand_are_kept_and_all_are_written():
    file = io.StringIO()
    log = ProblemLog(file, {"zip": "ZIP5"})

    for line in range(MAX_LISTED + 500):
        log.add(line, "zip", "8410X", "E_ZIP")

    assert len(log.listed) == MAX_LISTED
    assert log.counts["E_ZIP"] == log.rejects == MAX_LISTED + 500
    assert len(file.getvalue().splitlines()) == MAX_LISTED + 500
    assert file.getvalue().splitlines()[0] == f'0,ZIP5,8410X,E_ZIP,"{REMEDIES["E_ZIP"]}"'
    assert PROBLEM_HEADER.strip() == "line,column,value,code,remedy"


def test_values_are_cut_printable_and_no_formulas():
    file = io.StringIO()
    log = ProblemLog(file)

    log.add(1, "zip", "=1+1\0" + "x" * 200, "E_ZIP")

    value = log.listed[0][2]
    assert (len(value), value[:5], value[-1]) == (80, "=1+1\N{REPLACEMENT CHARACTER}", "…")
    assert file.getvalue().startswith("1,zip,'=1+1")


def test_every_code_has_a_remedy_and_says_what_it_does():
    assert all(code[:2] in {"E_", "W_"} and remedy.endswith(".") for code, remedy in REMEDIES.items())


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", '"=', " ="])
def test_neither_values_nor_names_of_columns_are_formulas(start):
    file = io.StringIO()
    log = ProblemLog(file, {"zip": f'{start}HYPERLINK("http://example.com")'})

    log.add(1, "zip", f"{start}1+1;{start}2", "E_ZIP")

    [[line, column, value, *_]] = csv.reader(io.StringIO(file.getvalue()))
    assert line == "1"
    assert column == f'\'{start}HYPERLINK("http://example.com")'
    assert value == f"'{start}1+1;'{start}2"


def test_problems_beyond_a_million_are_counted_and_not_written(monkeypatch):
    monkeypatch.setattr(problems, "WRITTEN", 5)
    file = io.StringIO()
    log = ProblemLog(file)

    for line in range(9):
        log.add(line, "zip", "x", "E_ZIP")

    assert (log.counts["E_ZIP"], len(file.getvalue().splitlines())) == (9, 5)
