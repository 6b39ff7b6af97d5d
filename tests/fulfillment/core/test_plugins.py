"""A new app takes part by its own modules and its entry in INSTALLED_APPS; no other file names it.

The app is the one that docs/contributing/adding.md and adapters.md show. Modules offer by name, so a name that nobody
asks for is a misspelled one.
"""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
GUIDES = [ROOT / "docs" / "contributing" / name for name in ("adding.md", "adapters.md")]
FILE = re.compile(r"^`gadgets/(\S+)`\n\n```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
SETTINGS = """
from ipaddress import ip_network
from tests.settings import *
INSTALLED_APPS = [*INSTALLED_APPS, 'gadgets']
WEBHOOK_ALLOWED_NETWORKS = [ip_network("127.0.0.0/8")]
"""
FIND = """
import json, os, tempfile, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from django.test import Client
from procrastinate.contrib.django import app
from drf_spectacular.generators import SchemaGenerator
from fulfillment.core.plugins import offered_values
from fulfillment.operations.retention import all_retention_rules
from production.adapters.registry import adapter_kinds
from production.interface import ProviderRefused
from tests.support.production.jobs import made_job
asked = []
class Provider(BaseHTTPRequestHandler):
    def do_POST(self):
        known = [one for one in asked if one[0] == self.command]
        content = self.rfile.read(int(self.headers["Content-Length"]))
        asked.append((self.command, self.path, json.loads(content)))
        accepted = self.headers["Authorization"] == "Bearer right"
        self.send_response(401 if not accepted else 409 if known else 201)
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_DELETE = do_POST
    def log_message(self, *ignored):
        pass
server = HTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
kind = adapter_kinds()["courier"]
form = kind.settings({"url": f"http://127.0.0.1:{server.server_port}", "token": "right"})
form.full_clean()
form.check_saved()
courier = kind.build({"url": form.read()["url"]}, {"token": "right"}, None)
sent = [courier.submit(made_job("1-1")).reference for _ in range(2)]
report, = courier.parse_report(b'{"job": "1-1", "status": "Shipped"}', {})
refusals = []
for bad in (b"[]", b"{}", b'{"job": "1-1", "status": "Lost"}'):
    try:
        courier.parse_report(bad, {})
    except ValueError:
        refusals.append("malformed")
try:
    kind.build({"url": form.read()["url"]}, {"token": "wrong"}, None).cancel(made_job("1-1"), "1-1")
except ProviderRefused as error:
    refusals.append(["refused", error.concerns_all])
server.shutdown()
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
    "cards": [card.position for cards in offered_values("console", "dashboard_cards")
              if cards.__module__ == "gadgets.console" for card in cards(None)],
    "courier": [sent, [one[:2] for one in asked], report.job_number, report.state, refusals],
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
    result = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "--command", FIND],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout.splitlines()[-1]) == {
        "operation": True,
        "refused without credentials": 401,
        "page": "Every gadget",
        "job": True,
        "rule": True,
        "cards": [900],
        "courier": [
            ["1-1", "1-1"],
            [["POST", "/jobs"], ["POST", "/jobs"], ["DELETE", "/jobs/1-1"]],
            "1-1",
            "Shipped",
            ["malformed", "malformed", "malformed", ["refused", True]],
        ],
        "adapter": ["Tray", ["pin", "tray"], ["The tray is there.", "1-1", "1-1"], ["1-1.pdf"]],
    }


APPS = ("accounts", "applications", "delivery", "production", "stores")
ROW = re.compile(r"^\| (`\w+`(?:, `\w+`)*) \| (.*) \|$", re.MULTILINE)
# A name, or a function with its arguments.
OFFERED = re.compile(r"`(\w+)(?:\([^`]*\))?`")


@cache
def sources() -> dict[str, ast.Module]:
    """Every module of the service by its name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_text("utf-8")
        )
        for package in (*APPS, "fulfillment")
        for path in (ROOT / package).rglob("*.py")
        if path.parent.name != "migrations"
    }


def calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and name in (
            getattr(node.func, "id", ""),
            getattr(node.func, "attr", ""),
        ):
            yield node


def wanted_names() -> set[tuple[str, str]]:
    """What `offered_values` is asked for, also through a function of the same module with the name as its argument."""
    names = set()
    for tree in sources().values():
        literal = [call.args for call in calls(tree, "offered_values")]
        names |= {(module.value, name.value) for module, name in literal if isinstance(name, ast.Constant)}
        for function in ast.walk(tree) if literal else ():
            for call in calls(function, "offered_values") if isinstance(function, ast.FunctionDef) else ():
                if isinstance(call.args[1], ast.Name):
                    names |= {
                        (call.args[0].value, outer.args[0].value) for outer in calls(tree, function.name)
                    }
    return names


def offered_names(tree: ast.Module) -> set[str]:
    """Public functions and constants of a module, and what it imports to offer it."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
            if ast.unparse(targets[0]) == "__all__":
                names |= set(ast.literal_eval(node.value))
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names if alias.asname == alias.name}
    return {name for name in names if not name.startswith("_")}


def used_names() -> set[str]:
    """Names with their modules: read in the module itself, imported from it, or written as a path."""
    names = set()
    for module, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                names.add(f"{module}.{node.id}")
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
    return names


def test_every_name_asked_of_apps_is_in_the_table():
    page = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    table = page.partition("## What apps offer to the platform")[2].partition("\n## ")[0]
    listed = {
        (module, name)
        for modules, content in ROW.findall(table)
        for module in OFFERED.findall(modules)
        for name in OFFERED.findall(content)
    }

    assert listed == wanted_names()
    assert len(listed) > 45


def test_no_module_offers_a_name_that_nobody_asks_for():
    wanted = wanted_names()
    offered = {
        (app, module, name)
        for app in APPS
        for module in {module for module, _ in wanted}
        if (tree := sources().get(f"{app}.{module}"))
        for name in offered_names(tree)
    }
    used = used_names()

    assert {
        f"{app}.{module}.{name}"
        for app, module, name in offered
        if (module, name) not in wanted and f"{app}.{module}.{name}" not in used
    } == set()
    assert wanted <= {(module, name) for _, module, name in offered}
