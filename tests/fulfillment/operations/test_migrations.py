"""A release runs beside the one before it: migrations that would stop the old one fail `make check`."""

import tomllib
from pathlib import Path

import pytest
from django.core.management import call_command
from django_migration_linter.sql_analyser import analyse_sql_statements, get_sql_analyser_class

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
