"""Every operation, through the installed libraries, with their types checked strictly."""

import json
import os
import re
import sys
from functools import cache

import pytest
import yaml

from clients.build import SCHEMA
from tests.clients.conftest import PROGRAMS
from tests.support.servers.client_library import run


@cache
def operations() -> dict[str, re.Pattern[str]]:
    """By operationId; a literal address before one with parameters."""
    document = yaml.load(SCHEMA.read_text(), Loader=yaml.CSafeLoader)
    found = [
        (f"{method.upper()} {path}", said["operationId"])
        for path, item in document["paths"].items()
        for method, said in item.items()
    ]
    return {
        name: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(address)) + "$")
        for address, name in sorted(found, key=lambda one: one[0].count("{"))
    }


def missing_in(printed: str) -> set[str]:
    seen = {
        next((name for name, pattern in operations().items() if pattern.match(line)), line)
        for line in printed.splitlines()
    }
    return set(operations()) - seen


@pytest.mark.slow
def test_python_calls_every_operation(python, given):
    printed = python(PROGRAMS / "every_operation.py", input=json.dumps(given), timeout=300)

    assert missing_in(printed) == set(), "add a call to tests/clients/programs/every_operation.py"


@pytest.mark.slow
def test_python_types_are_strict(installed_python, tmp_path):
    environment = {**os.environ, "MYPYPATH": str(installed_python)}
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--cache-dir", tmp_path]
    # Of both, so that the second finds in the cache what the first has read.
    mypy += ["--python-version", "3.10"]

    run(*mypy, "-p", "store_fulfillment", env=environment)
    run(*mypy, *PROGRAMS.glob("*.py"), env=environment)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_typescript_calls_every_operation_with_strict_types(npm_project, given, tmp_path):
    (tmp_path / "given.json").write_text(json.dumps(given))

    printed = run("node", "out/every-operation.js", tmp_path / "given.json", cwd=npm_project, timeout=300)

    assert missing_in(printed) == set(), "add a call to tests/clients/programs/every-operation.ts"
