"""What import-linter cannot say: who knows no request, and who makes no queries."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
APPS = ("accounts", "applications", "delivery", "production", "stores")
WEB = ("django.http", "django.views", "django.shortcuts", "rest_framework", "drf_spectacular")
LAYERS = {"models", "selectors", "services"}
# What the layers share: values, and what is wrong with them.
VALUES = {"criteria", "eddm", "packing", "pricing", "records", "requests", "row_contents", "standings"}
# Managers of Django, and our own ways to run a statement.
QUERIES = {"objects", "_default_manager", "_base_manager", "cursor", "fetch_row", "fetch_rows", "execute"}
WEB_FILES = [
    path
    for app in (*APPS, "fulfillment")
    for path in sorted((ROOT / app).rglob("*.py"))
    if {"pages", "api", "admin", "management", "views"} & {path.stem, *path.relative_to(ROOT).parts}
]
FILES = [
    path
    for app in APPS
    for path in sorted((ROOT / app).rglob("*.py"))
    if (LAYERS | VALUES) & {path.stem, *path.relative_to(ROOT).parts} and path not in WEB_FILES
]
# The cursors of pages are not the database's.
WEB_QUERIES = QUERIES - {"cursor"} | {"connection"}
# Queries that interfaces still make themselves, and connections that commands open. A number may only fall; a new query
# is a selector or a service.
QUERIES_LEFT = {
    "accounts/management/commands/create_operator.py": 1,
    "accounts/management/commands/turn_off_two_factor.py": 1,
    "delivery/datasets/admin/datasets.py": 2,
    "delivery/selection/pages/saved.py": 1,
    "fulfillment/core/admin/history.py": 3,
    "fulfillment/core/admin/read_only.py": 1,
    "fulfillment/core/admin/search.py": 1,
    "fulfillment/management/commands/up.py": 1,
    "fulfillment/management/commands/worker.py": 3,
    "production/dispatch/admin/job_columns.py": 1,
    "production/dispatch/admin/jobs.py": 5,
    "production/dispatch/views.py": 1,
    "production/management/commands/play_press.py": 1,
    "production/routing/admin.py": 2,
    "stores/associations/api.py": 1,
    "stores/associations/pages.py": 3,
    "stores/batches/admin.py": 3,
    "stores/budgets/admin/budgets.py": 3,
    "stores/budgets/admin/cost_centers.py": 2,
    "stores/catalog/admin/delivery_methods.py": 2,
    "stores/catalog/admin/product_columns.py": 1,
    "stores/catalog/admin/products.py": 1,
    "stores/catalog/admin/scoping.py": 2,
    "stores/catalog/admin/uploads.py": 1,
    "stores/editor/admin/history.py": 1,
    "stores/management/commands/erase_recipient.py": 2,
    "stores/orders/admin/actions.py": 2,
    "stores/orders/admin/approval_cards.py": 1,
    "stores/orders/admin/downloads.py": 1,
    "stores/orders/admin/list_filters.py": 1,
    "stores/orders/admin/list_page.py": 2,
    "stores/orders/admin/order_documents.py": 1,
    "stores/orders/admin/orders.py": 1,
    "stores/orders/admin/saved_views.py": 1,
    "stores/product_pages/admin/mailings.py": 2,
    "stores/product_pages/pages/catalog.py": 1,
}


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def test_services_and_selectors_know_no_request():
    web_imports = {
        str(path.relative_to(ROOT)): [n for n in imported(path) if n.startswith(WEB)] for path in FILES
    }

    assert {path: names for path, names in web_imports.items() if names} == {}
    assert len(FILES) > 150


def test_services_and_selectors_know_no_api():
    """A query parameter and its faults are the matter of an interface."""
    of_api = [
        str(path.relative_to(ROOT))
        for path in FILES
        if any(name.startswith("fulfillment.core.api") for name in imported(path))
    ]

    assert of_api == []


def lines_of_queries(path: Path, queries: set[str] = QUERIES) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if (isinstance(node, ast.Attribute) and node.attr in queries)
        or (isinstance(node, ast.Name) and node.id in queries and isinstance(node.ctx, ast.Load))
    ]


def test_models_query_nothing():
    models = [path for path in FILES if "models" in {path.stem, *path.relative_to(ROOT).parts}]

    assert [f"{path.relative_to(ROOT)}:{line}" for path in models for line in lines_of_queries(path)] == []
    assert len(models) > 30


def test_interfaces_leave_queries_to_selectors():
    counts = {str(path.relative_to(ROOT)): len(lines_of_queries(path, WEB_QUERIES)) for path in WEB_FILES}

    assert {path: count for path, count in counts.items() if count} == QUERIES_LEFT
    assert len(WEB_FILES) > 80
