import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
READ = re.compile(
    r"environment\.(?:text|flag|integer|names|networks|secrets?)\(\s*\"([A-Z_]+)\"|environ\.get\(\"([A-Z_]+)\"\)"
)


def test_every_variable_of_the_wiring_is_documented():
    modules = [
        *(ROOT / "fulfillment").glob("*.py"),
        *(ROOT / "fulfillment").rglob("management/commands/*.py"),
    ]
    read = {first or second for module in modules for first, second in READ.findall(module.read_text())}
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \|", (ROOT / "docs" / "operating.md").read_text(), re.MULTILINE)

    assert {name for row in rows for name in re.findall(r"[A-Z_]+", row)} == read
