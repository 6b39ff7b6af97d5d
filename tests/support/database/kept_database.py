"""A plugin of pytest for the runs of mutmut, all of them forks of one process.

The first makes the test database, the others keep it: looking through all migrations again would take more time than
the tests of one mutant. A mutant meets the tests first that import its module, the cases of each in turn, and no more
than MAX_TESTS: some tests have a hundred cases.
"""

import functools
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import utils

MAX_TESTS = 120

PACKAGES = ("accounts", "applications", "delivery", "fulfillment", "printing", "production", "stores")
_made: list[str] = []
_setup_databases = utils.setup_databases


def pytest_configure() -> None:
    """A fork begins with what its parent has cached of functions that now may be changed ones."""
    utils.setup_databases = _set_up
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in PACKAGES:
            for value in vars(module).values():
                if isinstance(value, functools._lru_cache_wrapper):
                    value.cache_clear()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    module, mutant, _ = os.environ.get("MUTANT_UNDER_TEST", "").partition(".x")
    if mutant:
        cases: Counter[str] = Counter()
        turns: dict[pytest.Item, int] = {}
        for item in items:
            cases[_test(item)] += 1
            turns[item] = cases[_test(item)]
        items.sort(key=lambda item: (not _imports(item.path, module), turns[item]))
        del items[MAX_TESTS:]


def _test(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


@functools.cache
def _imports(path: Path, module: str) -> bool:
    return f"from {module} import" in path.read_text("utf-8")


def _set_up(*arguments: Any, **named: Any) -> Any:
    if not _made:
        old = _setup_databases(*arguments, **named)
        _made.append(str(connection.settings_dict["NAME"]))
        return old
    connection.close()
    connection.settings_dict["NAME"] = _made[0]
    return []
