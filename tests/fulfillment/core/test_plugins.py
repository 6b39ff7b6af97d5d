"""A new app takes part by its own modules and its entry in INSTALLED_APPS; no other file names it.

The app is the one that docs/contributing/adding.md and adapters.md show.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
GUIDES = [ROOT / "docs" / "contributing" / name for name in ("adding.md", "adapters.md")]
FILE = re.compile(r"^`gadgets/(\S+)`\n\n```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SETTINGS = "from tests.settings import *\nINSTALLED_APPS = [*INSTALLED_APPS, 'gadgets']\n"
FIND = """
import json, os, tempfile
from django.test import Client
from procrastinate.contrib.django import app
from drf_spectacular.generators import SchemaGenerator
from fulfillment.core.plugins import offered
from fulfillment.operations.retention import all_retention_rules
from production.adapters.registry import adapter_kinds
from tests.support.production.jobs import made_job
tray = adapter_kinds()["tray"]
with tempfile.TemporaryDirectory() as folder:
    settings = tray.settings({"tray": folder, "pin": "1"}).read()
    adapter = tray.build({"tray": folder}, {"pin": "1"}, None)
    answers = [adapter.check_connection(), *(adapter.submit(made_job("1-1")).reference for _ in range(2))]
    files = os.listdir(folder)
    adapter.cancel(made_job("1-1"), "1-1")
    files += os.listdir(folder)
client = Client(headers={"host": "127.0.0.1:8000"})
print(json.dumps({
    "operation": "gadget_list" in str(SchemaGenerator().get_schema(request=None, public=True)["paths"]),
    "refused without credentials": client.get("/api/v1/gadget").status_code,
    "page": client.get("/gadgets").content.decode(),
    "job": "gadgets.count" in app.tasks,
    "rule": "old gadgets" in [rule.name for rule in all_retention_rules()],
    "cards": [card.position for cards in offered("console", "dashboard_cards") if cards.__module__ == "gadgets.console"
              for card in cards(None)],
    "adapter": [tray.label, sorted(settings), answers, files],
}))
"""


@pytest.fixture
def gadgets(tmp_path: Path) -> Path:
    for name, content in FILE.findall("\n".join(guide.read_text("utf-8") for guide in GUIDES)):
        file = tmp_path / "gadgets" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        for folder in (file.parent, tmp_path / "gadgets"):
            (folder / "__init__.py").touch()
    (tmp_path / "gadget_settings.py").write_text(SETTINGS)
    return tmp_path


@pytest.mark.slow
def test_new_app_takes_part_without_a_change_elsewhere(gadgets, settings, child_environment):
    environment = child_environment | {
        "DJANGO_SETTINGS_MODULE": "gadget_settings",
        "PYTHONPATH": os.pathsep.join([str(gadgets), str(ROOT)]),
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "--command", FIND],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "operation": True,
        "refused without credentials": 401,
        "page": "Every gadget",
        "job": True,
        "rule": True,
        "cards": [900],
        "adapter": ["Tray", ["pin", "tray"], ["The tray is there.", "1-1", "1-1"], ["1-1.pdf"]],
    }
