"""A web process does not hold what most of them never need; in a process of its own, for this one holds it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fulfillment.core.memory import DeferredModule

ROOT = Path(__file__).parents[3]
PROGRAM = """
import gc, json, os, sys
import fulfillment.wsgi
heavy = ("aiohttp", "asyncssh", "numpy", "shapely", "typst")
print(json.dumps({"loaded": [name for name in heavy if name in sys.modules], "collects": gc.isenabled(),
    "frozen": gc.get_freeze_count()}))
from delivery.selection.criteria import box_of, shapely
print(list(box_of(shapely.box(-105.0, 39.0, -104.0, 40.0))))
"""


@pytest.mark.slow
def test_web_process_loads_large_modules_only_when_used():
    environment = os.environ | {"FULFILLMENT_MODE": "development", "PUBLIC_URL": "http://127.0.0.1:8000"}
    environment |= {
        name: "xq7Zr0fVb2KcLw9TnD4sYhGu8MjEaPi3" + name
        for name in ("SECRET_KEY", "FULFILLMENT_PEPPERS", "FULFILLMENT_ENCRYPTION_KEYS")
    }
    environment |= {
        "DJANGO_SETTINGS_MODULE": "fulfillment.settings",
        "DATABASE_URL": "postgresql://nobody@/none?host=/nonexistent",
    }
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    state, box = result.stdout.splitlines()

    assert json.loads(state)["loaded"] == []
    assert json.loads(state)["collects"]
    assert json.loads(state)["frozen"] > 100_000
    assert json.loads(box) == [-105.0, 39.0, -104.0, 40.0]


def test_deferred_module_has_the_attributes_of_the_module():
    fractions = DeferredModule("fractions")

    assert fractions.Fraction(1, 2) + fractions.Fraction(1, 2) == 1
