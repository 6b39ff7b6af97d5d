"""A plugin of pytest for many runs in forks of one process: the first makes the test database, the others keep it.

Looking through all migrations again would take more time than the tests of one mutant.
"""

import functools
import sys
from typing import Any

from django.db import connection
from django.test import utils

PACKAGES = ("accounts", "applications", "delivery", "fulfillment", "stores")
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


def _set_up(*arguments: Any, **named: Any) -> Any:
    if not _made:
        old = _setup_databases(*arguments, **named)
        _made.append(str(connection.settings_dict["NAME"]))
        return old
    connection.close()
    connection.settings_dict["NAME"] = _made[0]
    return []
