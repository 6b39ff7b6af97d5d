import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
MAX_CELL_LENGTH = 150
OPERATING = ROOT / "docs" / "operating"
READ = re.compile(
    r"environment\.(?:text|folder|flag|integer|choice|url|domain|hosts|email|names|networks|origins|secrets?)\(\s*\"([A-Z_]+)\"|(?:os\.environ|environment)\.get\(\"([A-Z_]+)\"[,)]"
)


def test_every_variable_of_the_wiring_is_documented():
    modules = [
        *(path for path in (ROOT / "fulfillment").rglob("*.py") if "management" not in path.parts),
        *(ROOT / "fulfillment").rglob("management/commands/*.py"),
        *(ROOT / "fulfillment" / "local").glob("*.py"),
    ]
    read = {first or second for module in modules for first, second in READ.findall(module.read_text())}
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \|", (OPERATING / "settings.md").read_text("utf-8"), re.MULTILINE)

    assert {name for row in rows for name in re.findall(r"[A-Z_]+", row)} == read


def test_tables_of_settings_stay_readable():
    rows = re.findall(r"^\|.*", (OPERATING / "settings.md").read_text("utf-8"), re.MULTILINE)

    assert [cell for row in rows for cell in row.split("|") if len(cell) > MAX_CELL_LENGTH] == []


def test_environment_file_means_the_same_to_shell_and_systemd(tmp_path):
    document = (OPERATING / "deploy.md").read_text("utf-8")
    match = re.search(r"( *)```sh\n *# /etc/fulfillment\.env\n(.*?)```", document, re.DOTALL)
    example = "\n".join(line.removeprefix(match[1]) for line in match[2].splitlines()).rstrip() + "\n"
    load = re.search(r"^(set -a; \. )/etc/fulfillment\.env(; set \+a)$", document, re.MULTILINE)
    # As in systemd.exec(5): between single quotes everything is what it is, as in the shell.
    lines = [re.fullmatch(r"([A-Z_]+)='([^']*)'", line) for line in example.splitlines()]
    assert None not in lines
    written = {line[1]: line[2] for line in lines}
    assert [value for value in written.values() if "&" in value and " " in value]
    file = tmp_path / "fulfillment.env"
    file.write_text(example)

    program = "import json, os; print(json.dumps(dict(os.environ)))"
    script = f"{load[1]}{shlex.quote(str(file))}{load[2]}; exec {shlex.quote(sys.executable)} -c '{program}'"
    result = subprocess.run(["sh", "-euc", script], env={}, capture_output=True, text=True, check=True)

    read = json.loads(result.stdout)
    assert {name: read.get(name) for name in written} == written


def test_units_are_in_files_only():
    """A copy in a text would be hardened less after a while."""
    for document in (ROOT / "docs").rglob("*.md"):
        assert "ExecStart=" not in document.read_text("utf-8"), document.name
