"""What the tests stand on: a database that is never older than its migrations, and emptied without a trace."""

import ast
from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command

from tests.support.database.databases import SOURCES, fingerprint, rows_of
from tests.support.scenario import build_world

ROOT = Path(__file__).resolve().parents[3]
OURS = {"accounts", "applications", "delivery", "fulfillment", "printing", "production", "stores", "tests"}


def test_migrations_import_nothing_of_ours_that_is_not_in_the_fingerprint():
    """Else the database would have to be made anew after a change of that, too."""
    covered = {str(path.relative_to(ROOT)) for pattern in SOURCES for path in ROOT.glob(pattern)}
    for path in ROOT.glob("*/migrations/*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            ours = {name for name in names if name.split(".")[0] in OURS}
            assert {f"{name.replace('.', '/')}.py" for name in ours} <= covered, path


@pytest.mark.parametrize(
    "name", ["stores/migrations/0001_a.py", "stores/models/a.py", "fulfillment/core/audit/guards.py"]
)
def test_change_of_what_makes_the_database_changes_its_fingerprint(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_text("a")
    first = fingerprint(tmp_path, ["stores"])
    assert first == fingerprint(tmp_path, ["stores"])
    assert first != fingerprint(tmp_path, ["stores", "delivery"])

    path.write_text("b")

    assert first != fingerprint(tmp_path, ["stores"])


def test_new_migration_changes_the_fingerprint(tmp_path):
    folder = tmp_path / "stores" / "migrations"
    folder.mkdir(parents=True)
    first = fingerprint(tmp_path, [])

    (folder / "0002_more.py").write_text("")

    assert fingerprint(tmp_path, []) != first


@pytest.mark.django_db
def test_database_is_migrated_to_the_end():
    call_command("migrate", "--check", verbosity=0)


@pytest.mark.django_db(transaction=True)
def test_emptied_database_is_as_migrations_left_it():
    first = rows_of()
    build_world()
    assert {table for table, rows in rows_of().items() if len(rows) > len(first[table])} > {"accounts_user"}

    call_command("flush", interactive=False, verbosity=0, reset_sequences=False)

    assert rows_of() == first
    assert {table for table, rows in first.items() if rows} == {
        "django_migrations",
        "django_content_type",
        "auth_permission",
    }
    assert ContentType.objects.count() >= len(apps.get_models())
    assert Permission.objects.exists()
