"""Changes the code that decides access and prices, one place at a time, and counts the changes no test notices.

`python -m tests.benchmarks.mutation [names]` works in a copy below var/mutants, for an hour or two; what is changed
and which tests must notice stands in pyproject.toml. The database is one of its own. What no test notices is listed
last; `cd var/mutants && python -m mutmut show NAME` shows one. `--keep` goes on from the run before, `--again` tries
what it left alive on the tests as they are now. Ends with 1 below the mark.
"""

import argparse
import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

from fulfillment.local.postgres import ensure_running

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "var" / "mutants"
COPIED = (
    *("accounts", "applications", "delivery", "fulfillment", "printing", "production", "static", "stores"),
    *("templates", "tests"),
)
MARK = 0.85
# mutmut changes these as they are.
LEFT_ALONE = {"classmethod", "staticmethod"}
# Exit codes as mutmut keeps them: a test failed, or pytest itself did; the time was over.
KILLED, TIMED_OUT = {1, 3}, {24, -24, 36, 152, 255, -9}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help="of changes, such as 'stores.orders.services.transitions.*'; else all"
    )
    parser.add_argument("--keep", action="store_true", help="go on from the run before")
    parser.add_argument("--again", action="store_true", help="only what the run before left alive")
    asked = parser.parse_args()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    changed = settings["only_mutate"]
    names = asked.names + ([name for file in changed for name in _alive(file)] if asked.again else [])
    _copy(changed, keep=asked.keep or asked.again)
    environment = {
        **os.environ,
        "DATABASE_URL": ensure_running(ROOT / "var" / "mutation-postgres", durable=False),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    # One at a time: they share a database.
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *names]
    if failed := subprocess.run(command, cwd=WORK, env=environment, check=False).returncode:
        return failed
    # What a mutant left behind in the database would kill all that follow it.
    selection = settings["pytest_add_cli_args_test_selection"]
    plain = [sys.executable, "-m", "pytest", "-q", *settings["pytest_add_cli_args"], *selection]
    unclean = subprocess.run(plain, cwd=WORK / "mutants", env=environment, check=False).returncode
    if unclean:
        print("The tests fail without any change after the run: its figures are void.")
    return max(unclean, _report(changed))


def _copy(changed: list[str], *, keep: bool) -> None:
    if not keep:
        shutil.rmtree(WORK, ignore_errors=True)
    for name in COPIED:
        shutil.copytree(
            ROOT / name, WORK / name, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True
        )
    for name in ("manage.py", "pyproject.toml"):
        shutil.copy(ROOT / name, WORK / name)
    for name in changed:
        path = WORK / name
        path.write_text(undecorated(path.read_text("utf-8")), "utf-8")


def undecorated(source: str) -> str:
    """The same module with `f = decorator(f)` below each function instead of `@decorator` above it.

    mutmut passes by what is decorated, and that would be most services (`@transaction.atomic`) and properties.
    """
    lines = source.splitlines()
    tree = ast.parse(source)
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    functions = [node for body in bodies for node in body if isinstance(node, ast.FunctionDef)]
    for function in sorted(functions, key=lambda each: -each.lineno):
        names = [ast.unparse(decorator) for decorator in function.decorator_list]
        if not names or set(names) & LEFT_ALONE:
            continue
        wrapped = function.name
        for name in reversed(names):
            wrapped = f"{name}({wrapped})"
        indent = " " * function.col_offset
        lines.insert(function.end_lineno or 0, f"{indent}{function.name} = {wrapped}")
        del lines[function.decorator_list[0].lineno - 1 : function.lineno - 1]
    return "\n".join(lines) + "\n"


def _report(changed: list[str]) -> int:
    total: Counter[str] = Counter()
    print("| file | killed | survived | share |")
    for name in changed:
        # Only those asked for have a result.
        counted = Counter(_outcome(code) for code in _results(name).values() if code is not None)
        total += counted
        if counted:
            print(_line(name, counted))
    print(_line("all", total))
    print(*(each for name in changed for each in _alive(name)), sep="\n")
    return int(total["killed"] < MARK * total.total())


def _alive(file: str) -> list[str]:
    return [name for name, code in _results(file).items() if code is not None and _outcome(code) != "killed"]


def _results(file: str) -> dict[str, int | None]:
    path = WORK / "mutants" / f"{file}.meta"
    return json.loads(path.read_text())["exit_code_by_key"] if path.exists() else {}


def _outcome(code: int) -> str:
    """Mutants without a verdict count as alive: no test ran them, or the run failed."""
    return "killed" if code in KILLED | TIMED_OUT else "survived"


def _line(name: str, counted: Counter[str]) -> str:
    share = counted["killed"] / max(1, counted.total())
    return f"| {name} | {counted['killed']} | {counted.total() - counted['killed']} | {share:.1%} |"


if __name__ == "__main__":
    sys.exit(main())
