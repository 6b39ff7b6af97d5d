"""What is written down here, so that the parser need not load openpyxl, is what openpyxl knows."""

import subprocess
import sys

from openpyxl.styles.numbers import BUILTIN_FORMATS
from openpyxl.utils import get_column_letter

from printing.bounded import PROJECT
from stores.batches.files.container import LAST_COLUMN
from stores.batches.files.number_formats import BUILT_IN
from stores.batches.files.rows import letters_of


def test_built_in_formats_are_those_of_openpyxl():
    assert BUILT_IN == BUILTIN_FORMATS


def test_letters_of_every_column_are_those_of_openpyxl():
    assert [letters_of(place) for place in range(LAST_COLUMN)] == [
        get_column_letter(place) for place in range(1, LAST_COLUMN + 1)
    ]


def test_parser_of_a_workbook_loads_neither_openpyxl_nor_django():
    program = (
        "import sys, stores.batches.files.workbooks; print({'openpyxl', 'numpy', 'django'} & {*sys.modules})"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )

    assert loaded.stdout == "set()\n"
