"""A release runs beside the one before it: migrations that would stop the old one fail `make check`."""

import threading
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone
from django_migration_linter.sql_analyser import analyse_sql_statements, get_sql_analyser_class

from accounts.models import User

ROOT = Path(__file__).resolve().parents[3]
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


def test_warnings_are_errors_and_exceptions_are_migrations_of_ours():
    names = {path.stem for path in ROOT.glob("*/migrations/0*.py")}

    assert CONFIGURATION["warnings_as_errors"] == [], "an empty list is all of them"
    assert set(CONFIGURATION["ignore_name"]) <= names
    assert not {name for name in CONFIGURATION["ignore_name"] if name > "0009"}, (
        "later ones are repaired instead"
    )


@pytest.mark.django_db
def test_no_change_of_a_model_is_without_its_migration():
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_every_migration_can_be_taken_back():
    ways = []
    for path in sorted(ROOT.glob("*/migrations/0*.py")):
        module = __import__(f"{path.parts[-3]}.migrations.{path.stem}", fromlist=["Migration"])
        ways += [
            f"{path.parts[-3]}.{path.stem}: {operation}"
            for operation in module.Migration.operations
            if not operation.reversible
        ]

    assert ways == []


def build(index: str) -> None:
    app, name = "applications", "0008_events_of_an_order"
    migration = import_module(f"{app}.migrations.{name}").Migration
    [operation] = [one for one in migration.operations if one.index.name == index]
    state = MigrationLoader(connection).project_state((app, name))
    with connection.schema_editor(atomic=False) as editor:
        operation.database_forwards(app, editor, state, state)


def is_valid(index: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass", [index])
        return cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
def test_index_whose_build_was_interrupted_is_built_again():
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'event_of_order'::regclass")
    assert not is_valid("event_of_order")

    build("event_of_order")

    assert is_valid("event_of_order")


@pytest.mark.django_db(transaction=True)
def test_build_of_an_index_waits_for_who_writes_longer_than_the_service_would():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        usual = cursor.fetchone()
    writing = threading.Event()
    writer = threading.Thread(target=write_for_a_while, args=(writing,))
    writer.start()
    assert writing.wait(5)
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '50ms'; SET statement_timeout = '50ms'")

    build("event_of_order")

    writer.join()
    assert is_valid("event_of_order")
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        assert cursor.fetchone() == usual


def write_for_a_while(writing: threading.Event) -> None:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE applications_event IN ROW EXCLUSIVE MODE")
            writing.set()
            cursor.execute("SELECT pg_sleep(0.4)")
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_people_who_signed_in_before_addresses_were_confirmed_count_as_confirmed():
    last = [key for key in MigrationLoader(connection).graph.leaf_nodes() if key[0] == "accounts"]
    MigrationExecutor(connection).migrate([("accounts", "0008_tenant_trail")])
    try:
        old = MigrationLoader(connection).project_state(("accounts", "0008_tenant_trail")).apps
        tenant = old.get_model("accounts", "Tenant").objects.create(domain="print.example", name="Print")
        user = old.get_model("accounts", "User")
        for name, values in {
            "signed-in": {"last_login": timezone.now()},
            "operator": {"is_operator": True},
            "made": {},
        }.items():
            user.objects.create(tenant=tenant, username=name, email=f"{name}@x.example", **values)
    finally:
        MigrationExecutor(connection).migrate(last)

    confirmed = User.objects.filter(email_confirmed__isnull=False).values_list("username", flat=True)
    assert set(confirmed) == {"signed-in", "operator"}
