"""What import-linter cannot say: services and selectors know no request and no web framework."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
APPS = ("accounts", "applications", "delivery", "production", "stores")
WEB = ("django.http", "django.views", "django.shortcuts", "rest_framework", "drf_spectacular")
FILES = [
    path
    for app in APPS
    for layer in ("models", "selectors", "services")
    for folder in sorted((ROOT / app).rglob(layer))
    for path in sorted(folder.rglob("*.py"))
]


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_services_and_selectors_know_no_request(path):
    assert [name for name in imported(path) if name.startswith(WEB)] == []


def test_layers_were_found():
    assert len(FILES) > 20
