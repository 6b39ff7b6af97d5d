"""Where tests and what they share belong."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
IMPORT = re.compile(r"^(?:from|import) tests\.(?:\w+\.)*test_\w+", re.MULTILINE)


def test_no_test_module_is_imported_by_another():
    importing = [
        str(file.relative_to(TESTS)) for file in TESTS.rglob("*.py") if IMPORT.search(file.read_text())
    ]

    assert importing == []
