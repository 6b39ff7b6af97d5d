"""Where tests and what they share belong."""

import re
from pathlib import Path

TESTS = Path(__file__).parent
IMPORT = re.compile(r"^(?:from|import) tests\.(?:\w+\.)*test_\w+", re.MULTILINE)
SLOW = re.compile(r"^pytestmark = \[?pytest\.mark\.slow\b", re.MULTILINE)


FOLDERS = {
    *("accounts", "applications", "delivery", "fulfillment", "printing", "production", "stores"),
    *("static", "templates", "tests", "clients", "docs", "requirements"),
}


def test_top_level_has_no_other_folders():
    folders = {entry.name for entry in TESTS.parent.iterdir() if entry.is_dir()}

    assert {name for name in folders if not name.startswith(".")} <= FOLDERS | {"var", "__pycache__"}


def test_no_test_module_is_imported_by_another():
    importing = [
        str(file.relative_to(TESTS)) for file in TESTS.rglob("*.py") if IMPORT.search(file.read_text())
    ]

    assert importing == []


def test_tests_in_a_browser_are_slow_as_a_whole():
    """So that `make test` need not import them."""
    files = (TESTS / "browser").glob("test_*.py")

    assert [file.name for file in files if not SLOW.search(file.read_text())] == []
