"""The platform knows no app: it names none, none of their tables and none of their operations."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps

from fulfillment.core.api.schema import schema_document
from fulfillment.core.plugins import service_apps

ROOT = Path(__file__).resolve().parents[3]
# The project's settings list the apps and their middleware.
SOURCES = [path for path in sorted((ROOT / "fulfillment").rglob("*.py")) if path.name != "settings.py"]


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Every text of the module but docstrings, which explain."""
    tree = ast.parse(path.read_text("utf-8"))
    explained = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained:
            yield node.lineno, node.value


def foreign_names() -> set[str]:
    own = [app.label for app in service_apps()]
    tables = {model._meta.db_table for model in apps.get_models() if model._meta.app_label in own}
    operations = {
        operation["operationId"]
        for item in schema_document()["paths"].values()
        for operation in item.values()
    }
    return tables | operations


@pytest.mark.django_db
def test_the_platform_names_no_app_table_or_operation():
    apps_pattern = re.compile(rf"(?<![\w./-])({'|'.join(app.label for app in service_apps())})(?=\.\w)")
    names = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, sorted(foreign_names())))})(?!\w)")

    mentions = [
        f"{path.relative_to(ROOT)}:{line}: {match[0]}"
        for path in SOURCES
        for line, text in texts(path)
        for pattern in (apps_pattern, names)
        if (match := pattern.search(text))
    ]

    assert mentions == []
