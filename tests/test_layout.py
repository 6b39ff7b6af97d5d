"""Where tests and what they share belong."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
IMPORT = re.compile(r"^(?:from|import) tests\.(?:\w+\.)*test_\w+", re.MULTILINE)


TOP_LEVEL = {
    *("accounts", "applications", "delivery", "fulfillment", "printing", "production", "stores"),
    *("static", "templates", "tests", "clients", "docs", "requirements"),
    *("manage.py", "pyproject.toml", "Makefile", "README.md", "CHANGELOG.md"),
}


def test_top_level_has_what_was_agreed():
    found = {entry.name for entry in TESTS.parent.iterdir() if not entry.name.startswith(".")}

    assert found <= TOP_LEVEL | {"var"}


def test_no_test_module_is_imported_by_another():
    importing = [
        str(file.relative_to(TESTS)) for file in TESTS.rglob("*.py") if IMPORT.search(file.read_text())
    ]

    assert importing == []
