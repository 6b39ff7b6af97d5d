"""A release runs beside the one before it: migrations that would stop the old one fail `make check`."""

import os
import tomllib
from functools import partial
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations import RenameModel
from django.db.migrations.loader import MigrationLoader
from django_migration_linter.sql_analyser import analyse_sql_statements, get_sql_analyser_class

from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.plugins import service_apps
from fulfillment.operations.deployment_checks import check_deployment
from fulfillment.site.metrics import DatabaseFigures
from tests.support.database.address import address_of
from tests.support.database.tables import load_tables
from tests.tools.release_dump import empty_database, environment_of, manage, schema_of, used

ROOT = Path(__file__).resolve().parents[3]
FIRST = {
    *("0001_users", "0002_subscriptions_and_roles", "0001_applications", "0002_keys_and_webhooks"),
    *("0001_datasets", "0001_stores_and_orders"),
}
# Later apps begin with tables of their own, which no release before them has.
FIRST_OF_LATER_APPS = {"0001_production_jobs", "0001_backup_drills"}
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["django_migration_linter"]


@pytest.mark.parametrize(
    "statement",
    [
        'ALTER TABLE "stores_order" DROP COLUMN "metadata" CASCADE',
        'ALTER TABLE "stores_order" RENAME COLUMN "metadata" TO "more"',
        'ALTER TABLE "stores_order" RENAME TO "stores_orders"',
        'ALTER TABLE "stores_order" ADD COLUMN "more" integer NOT NULL',
        'ALTER TABLE "stores_order" ALTER COLUMN "number" TYPE varchar(10) USING "number"::varchar(10)',
        'DROP TABLE "stores_quote" CASCADE',
        'CREATE INDEX "slow" ON "stores_order" ("total")',
    ],
)
def test_statement_that_stops_the_old_release_is_refused(statement):
    analyser = get_sql_analyser_class("postgresql", analyser_string=CONFIGURATION["sql_analyser"])

    errors, _, warnings = analyse_sql_statements(analyser, [statement])

    assert errors or warnings


def test_statements_that_the_old_release_does_not_notice_pass():
    analyser = get_sql_analyser_class("postgresql", analyser_string="postgresql")
    harmless = [
        'ALTER TABLE "stores_order" ADD COLUMN "more" timestamp with time zone NULL',
        'CREATE INDEX CONCURRENTLY "quick" ON "stores_order" ("total")',
    ]

    assert analyse_sql_statements(analyser, harmless) == ([], [], [])


def test_every_migration_after_the_first_ones_is_checked_and_warnings_are_errors():
    assert CONFIGURATION["warnings_as_errors"] == [], "an empty list is all of them"
    assert not {"ignore_name", "ignore_name_contains", "exclude_apps"} & set(CONFIGURATION)
    first = {
        path.stem for path in ROOT.glob("*/migrations/0*.py") if "initial = True" in path.read_text("utf-8")
    }
    assert first == FIRST | FIRST_OF_LATER_APPS, "only these make tables that no release before them uses"


@pytest.mark.django_db
def test_no_change_of_a_model_is_without_its_migration():
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_every_migration_can_be_reversed():
    ways = []
    for path in sorted(ROOT.glob("*/migrations/0*.py")):
        module = __import__(f"{path.parts[-3]}.migrations.{path.stem}", fromlist=["Migration"])
        ways += [
            f"{path.parts[-3]}.{path.stem}: {operation}"
            for operation in module.Migration.operations
            if not operation.reversible
        ]

    assert ways == []


def test_renamed_models_are_renamed_in_the_content_types_of_today():
    """Going back, Django asks the content types for a column that 0002 removed, unless the migration depends on it."""
    loader = MigrationLoader(None)
    renaming = {
        node
        for node, migration in loader.disk_migrations.items()
        if any(isinstance(operation, RenameModel) for operation in migration.operations)
    }
    assert ("accounts", "0012_idempotent_response") in renaming
    for node in renaming:
        state = loader.project_state(node, at_end=False)
        assert "name" not in state.models["contenttypes", "contenttype"].fields


def names_of(database: str) -> list[str]:
    """PostgreSQL writes the conditions of indexes differently once they were restored from a dump."""
    return sorted(line.partition(" USING ")[0] for line in schema_of(database))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_migrations_without_a_transaction_can_run_again(tmp_path):
    """A killed one leaves what it has done, and is not recorded."""
    with empty_database(f"repeated_{os.getpid()}") as name:
        load_tables(address_of(name), partial(manage, environment_of(name, tmp_path)))
        before = names_of(name)
        with used(name):
            loader = MigrationLoader(connection)
            apps = {app.label for app in service_apps()}
            nodes = [node for leaf in loader.graph.leaf_nodes() for node in loader.graph.forwards_plan(leaf)]
            for node in dict.fromkeys(nodes):
                migration = loader.get_migration(*node)
                if node[0] in apps and not migration.atomic:
                    with connection.schema_editor(atomic=False) as editor:
                        migration.apply(loader.project_state(node, at_end=False), editor)
        assert names_of(name) == before


@pytest.mark.django_db(transaction=True)
def test_second_preparation_at_the_same_time_is_refused():
    with exclusive_job("Preparing"), pytest.raises(CommandError, match="Preparing is already running"):
        call_command("prepare")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_new_database_hides_no_mistake_and_no_metric(settings, client):
    settings.DEVELOPMENT, settings.ALLOWED_HOSTS = False, ["*"]
    cache.delete("migrations_complete")
    try:
        with empty_database(f"new_{os.getpid()}") as name, used(name):
            messages = [message.msg for message in check_deployment(None)]
            ready, metrics = client.get("/readyz"), list(DatabaseFigures().collect())
    finally:
        cache.delete("migrations_complete")

    for expected in ("ALLOWED_HOSTS is *", "run prepare", "Migrations are missing"):
        assert expected in str(messages)
    assert (ready.status_code, ready.json()["reason"]) == (503, "migrations are missing")
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in metrics
        for sample in family.samples
    }
    assert samples["fulfillment_check_ok", "migrations"] == 0
    assert samples["fulfillment_database_up",] == 1
