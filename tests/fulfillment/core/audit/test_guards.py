"""The audit trail accepts additions only: no role can change, delete or empty it."""

from contextlib import contextmanager

import pghistory.models
import pgtrigger
import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, ProgrammingError, connection, transaction
from psycopg import sql

from accounts.models import Tenant, User
from fulfillment.core.audit.guards import (
    grant_use,
    install_append_only_triggers,
    prune_conditions,
    trail_models,
)
from stores.orders.models import OrderHistory
from tests.factories.orders import make_product, order_body

# Why a model needs no events of its own.
UNTRACKED = {
    "accounts.Authenticator": "nothing in it but a secret",
    "accounts.EmailChange": "pending until confirmed by mail; the change itself is an event of the user",
    "accounts.IdempotentResponse": "a copy of an answer, for 24 hours",
    "accounts.Notification": "a message",
    "accounts.NotificationPreference": "where messages are wanted",
    "accounts.RateWindow": "a counter of one minute",
    "accounts.RecoveryCode": "nothing in it but a secret",
    "accounts.RequestLease": "held for seconds",
    "applications.DailyUsage": "counts",
    "applications.Delivery": "a log itself",
    "applications.DeliveryAttempt": "a log itself",
    "applications.Event": "a log itself",
    "applications.LoggedRequest": "a log itself",
    "applications.Milestone": "written once, when something was done for the first time",
    "applications.UsedCode": "a log itself",
    "delivery.Area": "data of a tracked data set",
    "delivery.EddmSelection": "never changed after it was made",
    "delivery.EddmSelectionRoute": "part of a selection, which is never changed",
    "delivery.ImportProblem": "part of the report of an import",
    "delivery.ImportRun": "a log itself",
    "delivery.LiveDataset": "follows the status of the data sets, which is tracked",
    "delivery.Population": "data of a tracked data set",
    "production.Attempt": "a log itself",
    "production.LedgerRow": "what a hot folder was given; the history of each job has it",
    "production.LedgerStem": "parts of names, made from the ledger",
    "production.Job": "its history has each change",
    "production.GangSheet": "the history of each of its jobs has it",
    "production.JobHistory": "the trail of jobs itself",
    "production.ProviderReport": "a log itself",
    "production.Scan": "a log itself; the history of the job has it",
    "production.RoutingTally": "counts",
    "stores.ArtworkUpload": "waits for the template that shows it, whose product is tracked",
    "stores.Asset": "a picture that is never changed",
    "stores.Batch": "a request until it is ordered; its orders are tracked",
    "stores.BatchRow": "a request until it is ordered; its order is tracked",
    "stores.ColumnMapping": "a preference of the caller",
    "stores.BudgetEntry": "the ledger itself",
    "stores.BudgetPeriod": "sums of the ledger",
    "stores.CatalogUpload": "waits for its import, whose stores and products are tracked",
    "stores.DeliveredPrice": "part of a product, whose event carries its version",
    "stores.OrderComment": "names its author and time; erased, never changed",
    "stores.OrderDay": "counts",
    "stores.OrderSearch": "words of orders, written by their triggers",
    "stores.OrderHistory": "the trail of orders itself",
    "stores.OrderedAsset": "follows from the order's items, which are tracked",
    "stores.TestScenario": "the next step of a test order, whose history has each",
    "stores.OrderTally": "counts",
    "stores.StoreUsage": "counts",
    "stores.OrderView": "how a person looks at the list of orders",
    "stores.ProductionSpeed": "part of a product, whose event carries its version",
    "stores.Proof": "made anew from its product and values at any time",
    "stores.Quote": "never changed after it was given",
    "stores.TemplateChange": "the trail of templates itself",
    "stores.TemplatePicture": "a picture of an earlier template, never changed",
    "stores.TemplateField": "part of a product, whose event carries its version",
}
OURS = ("accounts", "applications", "stores", "delivery", "production")
TRAIL = [model._meta.label for model in trail_models()]


@pytest.fixture
def placed(world):
    make_product(world.associated)
    response = world.as_application().call("POST", "/store/associated/order", order_body())
    assert response.status_code == 201, response.content
    world.as_user(world.user).call(
        "PATCH", f"/application/{world.application.pk}", {"Description": "Changed"}
    )
    return response.json()


@contextmanager
def refused(error=DatabaseError, match="append_only"):
    with pytest.raises(error, match=match), transaction.atomic():
        yield


def run(statement, table, **parts):
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(table=sql.Identifier(table), **parts))


def test_every_model_is_tracked_or_has_a_reason():
    models = {
        model._meta.label: model
        for app in OURS
        for model in apps.get_app_config(app).get_models()
        if not issubclass(model, pghistory.models.Event)
    }
    tracked = {label for label, model in models.items() if hasattr(model, "pgh_event_model")}

    assert set(models) - tracked == set(UNTRACKED)
    assert len(tracked) > 10


@pytest.mark.django_db
@pytest.mark.parametrize("label", TRAIL)
def test_table_of_the_trail_is_never_emptied(label):
    table = apps.get_model(label)._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL fulfillment.may_empty = 'off'")

    with refused():
        run("TRUNCATE {table} CASCADE", table)


@pytest.mark.parametrize("label", ["stores.OrderHistory", "pghistory.Context", "accounts.UserEvent"])
def test_row_of_the_trail_is_never_deleted(placed, label):
    table = apps.get_model(label)._meta.db_table
    assert apps.get_model(label).objects.exists()

    with refused():
        run("DELETE FROM {table}", table)


def test_history_of_an_order_is_never_rewritten(placed):
    for change in ("status = 90", "note = 'Something else'", "actor_kind = 'System'", "timestamp = now()"):
        with refused():
            run("UPDATE {table} SET " + change, OrderHistory._meta.db_table)


def test_only_free_text_can_be_erased_from_it(placed):
    table = OrderHistory._meta.db_table
    run("UPDATE {table} SET note = '[erased]'", table)
    assert OrderHistory.objects.get().note == "[erased]"

    with refused():
        run("UPDATE {table} SET note = 'Back again'", table)


def test_context_may_gain_members_and_lose_none(placed):
    run(
        "UPDATE {table} SET metadata = metadata || '{{\"more\": 1}}', updated_at = now()", "pghistory_context"
    )

    for change in (
        "metadata = '{{}}'",
        'metadata = metadata || \'{{"user": "me"}}\'',
        "created_at = created_at - interval '1 day'",
    ):
        with refused():
            run("UPDATE {table} SET " + change, "pghistory_context")


def test_closing_again_touches_no_table(db):
    with connection.cursor() as cursor:
        cursor.execute("SELECT array_agg(oid ORDER BY oid) FROM pg_trigger WHERE tgname LIKE 'guard_%'")
        before = cursor.fetchone()
        install_append_only_triggers()
        cursor.execute("SELECT array_agg(oid ORDER BY oid) FROM pg_trigger WHERE tgname LIKE 'guard_%'")
        assert cursor.fetchone() == before
    assert len(before[0]) == 2 * len(TRAIL)


@pytest.fixture
def role(db):
    name = "fulfillment_test_application"
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name])
        if not cursor.fetchone():
            cursor.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(name)))
    return name


@pytest.fixture
def as_role(placed, role):
    """The rest of the test runs as the role of web and workers, which owns nothing."""
    grant_use(role)
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
    yield placed
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")


def test_application_role_cannot_touch_the_trail(as_role, subtests):
    pruned = prune_conditions()
    for label in TRAIL:
        model = apps.get_model(label)
        parts = {"column": sql.Identifier(model._meta.pk.column)}
        for statement in (
            "DELETE FROM {table}",
            "UPDATE {table} SET {column} = {column}",
            "TRUNCATE {table}",
            "ALTER TABLE {table} DISABLE TRIGGER ALL",
            "DROP TRIGGER guard_rows ON {table}",
            "DROP TABLE {table}",
        ):
            # The role prunes the history of test orders; of any other order the guard keeps it.
            guarded = label in pruned and statement.startswith("DELETE")
            message = "append_only" if guarded else "permission denied|must be owner"
            with subtests.test(label=label, statement=statement), refused(DatabaseError, message):
                run(statement, model._meta.db_table, **parts)


@pytest.mark.parametrize(
    "statement",
    [
        "SET session_replication_role = replica",
        "CREATE OR REPLACE FUNCTION fulfillment_guard_trail() RETURNS trigger LANGUAGE sql AS 'SELECT 1'",
    ],
)
def test_application_role_cannot_switch_the_guards_off(as_role, statement):
    with refused(ProgrammingError, "must be owner|permission denied"):
        run(statement, "")


def test_application_role_cannot_work_unseen(as_role, world):
    before = User.pgh_event_model.objects.filter(pgh_obj_id=world.user.pk).count()

    with pgtrigger.ignore(), connection.cursor() as cursor:
        cursor.execute("UPDATE accounts_user SET is_operator = true WHERE id = %s", [world.user.pk])

    assert User.pgh_event_model.objects.filter(pgh_obj_id=world.user.pk).count() == before + 1
    with refused(ProgrammingError, "must be owner|permission denied"):
        run("DROP FUNCTION _pgtrigger_should_ignore CASCADE", "accounts_user")


MIGRATION = """
CREATE TABLE newer (id bigint GENERATED BY DEFAULT AS IDENTITY, said text);
CREATE FUNCTION tell_newer() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO newer (said) VALUES (NEW.name); RETURN NULL; END $$;
CREATE TRIGGER tell_newer AFTER UPDATE ON accounts_tenant FOR EACH ROW EXECUTE FUNCTION tell_newer();
"""


def test_release_at_work_writes_through_the_triggers_of_a_migration(world, role, settings, monkeypatch):
    """From the migration on, and not when `prepare` has come to its end."""
    settings.DATABASE_ROLE = role
    grant_use(role)
    written = []

    def migrate(*args, **options):
        with connection.cursor() as cursor:
            cursor.execute(MIGRATION)
            cursor.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(role)))
            Tenant.objects.update(name="New name")
            cursor.execute("SELECT said FROM newer")
            written.extend(cursor.fetchall())
            with refused(ProgrammingError, "permission denied"):
                cursor.execute("DELETE FROM newer")
            cursor.execute("RESET ROLE")

    monkeypatch.setattr("fulfillment.management.commands.prepare.call_command", migrate)
    call_command("prepare")

    assert written == [("New name",)]


def test_application_role_does_everything_the_service_does(as_role, world):
    order = as_role["OrderID"]
    client = world.as_application()
    assert client.call("POST", "/store/associated/order", order_body()).status_code == 201
    moved = world.as_user(world.user).call("POST", f"/store/associated/order/{order}/status", {"Status": 30})
    assert moved.status_code == 200
    key = world.application.keys.get()
    regenerated = world.as_user(world.user).call(
        "PATCH", f"/application/{world.application.pk}/key/{key.pk}/regenerate"
    )
    assert regenerated.status_code == 200
    assert OrderHistory.objects.count() == 3
