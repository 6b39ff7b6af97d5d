"""Changes the code that decides who may do what, one place at a time, and counts the changes no test notices.

`python -m tests.benchmarks.mutation [names]` works in a copy below var/mutants, for an hour or two; what is changed
and which tests must notice stands in pyproject.toml. The database is one of its own. What no test notices is listed
last; `cd var/mutants && python -m mutmut show NAME` shows one. Ends with 1 below the mark.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

from fulfillment.postgres import ensure_running

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "var" / "mutants"
COPIED = ("accounts", "applications", "delivery", "fulfillment", "static", "stores", "templates", "tests")
MARK = 0.85
# mutmut changes these as they are.
LEFT_ALONE = {"classmethod", "staticmethod"}
# Exit codes as mutmut keeps them: a test failed, or pytest itself did; none ran; the time was over.
KILLED, SURVIVED, UNTESTED = {1, 3}, {0}, {5, 33}
TIMED_OUT = {24, -24, 36, 152, 255, -9}


def main() -> int:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    _copy(settings["only_mutate"])
    environment = {
        **os.environ,
        "DATABASE_URL": ensure_running(ROOT / "var" / "mutation-postgres", durable=False),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    # One at a time: they share a database.
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *sys.argv[1:]]
    if failed := subprocess.run(command, cwd=WORK, env=environment, check=False).returncode:
        return failed
    # What a mutant left behind in the database would kill all that follow it.
    selection = settings["pytest_add_cli_args_test_selection"]
    plain = [sys.executable, "-m", "pytest", "-q", *settings["pytest_add_cli_args"], *selection]
    unclean = subprocess.run(plain, cwd=WORK / "mutants", env=environment, check=False).returncode
    if unclean:
        print("The tests fail without any change after the run: its figures are void.")
    return max(unclean, _report(settings["only_mutate"]))


def _copy(changed: list[str]) -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for name in COPIED:
        shutil.copytree(ROOT / name, WORK / name, ignore=shutil.ignore_patterns("__pycache__"))
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
    noticed_by_none = []
    print("| file | killed | survived | share |")
    for name in changed:
        results = json.loads((WORK / "mutants" / f"{name}.meta").read_text())["exit_code_by_key"]
        # Only those asked for have a result.
        counted = Counter(_outcome(code) for code in results.values() if code is not None)
        total += counted
        noticed_by_none += [key for key, code in results.items() if _outcome(code) == "survived"]
        if counted:
            print(_line(name, counted))
    print(_line("all", total))
    print(*noticed_by_none, sep="\n")
    return int(total["killed"] < MARK * total.total())


def _outcome(code: int | None) -> str:
    """A change that no test runs is one that none notices."""
    return (
        "killed" if code in KILLED | TIMED_OUT else "survived" if code in SURVIVED | UNTESTED else "unknown"
    )


def _line(name: str, counted: Counter[str]) -> str:
    share = counted["killed"] / max(1, counted.total())
    return f"| {name} | {counted['killed']} | {counted.total() - counted['killed']} | {share:.1%} |"


if __name__ == "__main__":
    sys.exit(main())
