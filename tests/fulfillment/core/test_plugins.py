"""An app that is new takes part by its own modules and its entry in INSTALLED_APPS; nothing else names it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FILES = {
    "__init__.py": "",
    "apps.py": """
from fulfillment.core import plugins

class GadgetsConfig(plugins.ServiceApp):
    name = "gadgets"
""",
    "api/__init__.py": "",
    "api/routes.py": """
from django.http import HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from fulfillment.core.api.access import Access
from fulfillment.core.api.viewsets import ApiViewSet

class GadgetViewSet(ApiViewSet):
    access = {"list": Access("Anyone may list gadgets.")}

    @extend_schema(operation_id="gadget_list", responses=str)
    def list(self, request):
        return HttpResponse("[]")

urlpatterns = [path("gadget", GadgetViewSet.as_view({"get": "list"}), name="gadget-list")]
""",
    "pages/__init__.py": "",
    "pages/urls.py": """
from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("gadgets", lambda request: HttpResponse("Every gadget"), name="gadgets")]
""",
    "tasks.py": """
from procrastinate.contrib.django import app

@app.task(name="gadgets.count")
def count_gadgets():
    pass
""",
    "retention.py": """
from fulfillment.core.audit.retention import RetentionRule

def retention_rules():
    return [RetentionRule("old gadgets", lambda: 0, lambda batch: iter(()))]
""",
    "console.py": """
from fulfillment.core.admin.offers import Card

def dashboard_cards(request):
    return [Card("gadgets.html", {"count": 3}, 900)]
""",
}
SETTINGS = "from tests.settings import *\nINSTALLED_APPS = [*INSTALLED_APPS, 'gadgets']\n"
FIND = """
import json
from django.test import Client
from procrastinate.contrib.django import app
from drf_spectacular.generators import SchemaGenerator
from fulfillment.core.plugins import offered
from fulfillment.operations.retention import all_retention_rules
print(json.dumps({
    "operation": "gadget_list" in str(SchemaGenerator().get_schema(request=None, public=True)["paths"]),
    "refused without credentials": Client(SERVER_NAME="localhost").get("/api/v1/gadget").status_code,
    "page": Client(SERVER_NAME="localhost").get("/gadgets").content.decode(),
    "job": "gadgets.count" in app.tasks,
    "rule": "old gadgets" in [rule.name for rule in all_retention_rules()],
    "cards": [card.position for cards in offered("console", "dashboard_cards") if cards.__module__ == "gadgets.console"
              for card in cards(None)],
}))
"""


@pytest.fixture
def gadgets(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        file = tmp_path / "gadgets" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    (tmp_path / "gadget_settings.py").write_text(SETTINGS)
    return tmp_path


def test_new_app_takes_part_without_a_change_elsewhere(gadgets, settings, child_environment):
    environment = child_environment | {
        "DJANGO_SETTINGS_MODULE": "gadget_settings",
        "PYTHONPATH": os.pathsep.join([str(gadgets), str(ROOT)]),
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "--command", FIND],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "operation": True,
        "refused without credentials": 401,
        "page": "Every gadget",
        "job": True,
        "rule": True,
        "cards": [900],
    }
