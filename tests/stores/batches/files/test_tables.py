"""The parser of a file starts without openpyxl, and names columns as it does."""

import subprocess
import sys

from openpyxl.utils import get_column_letter

from printing.bounded import PROJECT
from stores.batches.files.container import LAST_COLUMN
from stores.batches.files.rows import column_letters


def test_letters_of_every_column_are_those_of_openpyxl():
    assert [column_letters(index) for index in range(LAST_COLUMN)] == [
        get_column_letter(index) for index in range(1, LAST_COLUMN + 1)
    ]


def test_parser_of_a_workbook_loads_neither_openpyxl_nor_django():
    program = (
        "import sys, stores.batches.files.workbooks; print({'openpyxl', 'numpy', 'django'} & {*sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout == "set()\n"
