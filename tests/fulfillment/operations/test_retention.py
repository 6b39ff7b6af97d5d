"""`manage.py prune` over everything the apps declare."""

from datetime import date, timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.db.models.signals import pre_delete
from django.db.transaction import TransactionManagementError
from django.utils import timezone
from oauth2_provider.models import AccessToken
from procrastinate.jobs import Job

from accounts.models import IdempotentResponse
from applications.registration.models import DailyUsage
from applications.webhooks.models import Delivery, DeliveryAttempt, Event, Webhook, WebhookSecret
from applications.webhooks.services import webhooks
from applications.webhooks.services.events import record_event
from applications.webhooks.services.webhooks import create_webhook, delete_webhook, rotate_secret
from delivery.datasets.models import ImportProblem, ImportRun, ImportState
from fulfillment.core.audit.retention import RetentionRule, rule_for_rows
from fulfillment.core.db.locks import check_events_allowed, exclusive_job
from fulfillment.core.errors import Conflict, Unprocessable
from fulfillment.operations import retention
from fulfillment.operations.retention import all_retention_rules, prune
from fulfillment.tasks import prune_everything


@pytest.fixture(autouse=True)
def every_clock_moves(monkeypatch):
    """time_machine moves that of this process, not that of the database."""
    monkeypatch.setattr(retention, "database_now", timezone.now)


def counts():
    return {rule.name: rule.count() for rule in all_retention_rules()}


@pytest.fixture
def old_things(world, client, settings, tmp_path):
    """One row of every kind that only a clock makes old, and no file."""
    settings.MEDIA_ROOT = tmp_path
    client.login(username="user@print.example", password="a long pass phrase")
    response = world.as_user(world.user).call(
        "POST", "/application", {"Name": "Once"}, headers={"Idempotency-Key": "once"}
    )
    assert response.status_code == 201
    assert IdempotentResponse.objects.count() == Session.objects.count() == 1


def test_only_what_has_had_its_time_goes(old_things):
    prune()
    assert (IdempotentResponse.objects.count(), Session.objects.count()) == (1, 1)
    assert AccessToken.objects.exists()

    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        assert {name: count for name, count in counts().items() if count} == {
            "idempotent responses": 1,
            "sessions": 1,
            "access tokens": 1,
            "rate windows": 1,
        }
        prune()
        assert set(counts().values()) == {0}
    for model in (IdempotentResponse, Session, AccessToken):
        assert not model.objects.exists()


def test_dry_run_prints_the_same_numbers_and_removes_nothing(old_things, capsys):
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        call_command("prune", "--dry-run")
        lines = capsys.readouterr().out.splitlines()
        assert Session.objects.count() == 1
        call_command("prune")
        done = capsys.readouterr().out.splitlines()

    assert [line.replace("would be removed", "removed") for line in lines] == done
    assert f"{1:>9}  sessions removed" in done


def test_only_the_named_things_go(old_things, capsys):
    with time_machine.travel(timezone.now() + timedelta(days=2)):
        call_command("prune", "--only", "sessions")

    assert capsys.readouterr().out == f"{1:>9}  sessions removed\n"
    assert IdempotentResponse.objects.exists()
    with pytest.raises(CommandError, match="session is unknown; write idempotent responses"):
        call_command("prune", "--only", "session")
    with pytest.raises(CommandError, match="from 1 to 10000"):
        call_command("prune", "--batch", "0")


@pytest.mark.django_db(transaction=True)
def test_each_batch_is_a_transaction_and_a_stopped_run_is_gone_on_with():
    for number in range(5):
        Session.objects.create(session_key=f"old{number}", expire_date=timezone.now() - timedelta(days=1))
    rows = rule_for_rows("sessions", lambda: Session.objects.filter(expire_date__lte=timezone.now()))

    batches = rows.remove(2)
    assert next(batches) == 2
    batches.close()
    # Another connection sees it: the batch is committed.
    other = connection.copy()
    with other.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM django_session")
        assert cursor.fetchone()[0] == 3
    other.close()
    assert list(rows.remove(2)) == [2, 1]


@pytest.mark.django_db(transaction=True)
def test_batches_hold_back_no_events():
    """To remove 200,000 rows of batches held back the events of all applications for three seconds."""
    Session.objects.create(session_key="old", expire_date=timezone.now() - timedelta(days=1))
    refusals = []

    def write_event(**_):
        try:
            check_events_allowed()
        except TransactionManagementError as refusal:
            refusals.append(str(refusal))

    pre_delete.connect(write_event, sender=Session)
    try:
        assert list(rule_for_rows("sessions", Session.objects.all).remove(2)) == [1]
    finally:
        pre_delete.disconnect(write_event, sender=Session)

    assert refusals == ["A long transaction writes no events."]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_locked_rows_are_skipped():
    for key in ("held", "free"):
        Session.objects.create(session_key=key, expire_date=timezone.now() - timedelta(days=1))
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_session WHERE session_key = 'held' FOR UPDATE")
        prune()
        assert list(Session.objects.values_list("session_key", flat=True)) == ["held"]
    finally:
        other.rollback()
        other.close()
    prune()
    assert not Session.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_do_not_prune_at_once():
    with exclusive_job("Pruning"), pytest.raises(CommandError, match="already running"):
        call_command("prune")
    call_command("prune")


@pytest.mark.django_db(transaction=True)
def test_night_is_tried_again_while_a_backup_is_made():
    job = Job(
        id=1, status="doing", queue="default", lock=None, queueing_lock=None, task_name="fulfillment.prune"
    )
    with exclusive_job("Pruning"), pytest.raises(Conflict) as refused:
        prune_everything(timestamp=0)

    again = prune_everything.get_retry_exception(exception=refused.value, job=job)

    assert again.retry_decision.retry_at - timezone.now() > timedelta(minutes=10)
    assert prune_everything.get_retry_exception(exception=ValueError(), job=job) is None


@pytest.mark.parametrize(
    "error", [Unprocessable("It is away.", code="away"), OperationalError("It is away.\nDETAIL: x")]
)
def test_failing_rule_does_not_stop_the_others(db, monkeypatch, error):
    def fail(batch):
        yield 3
        raise error

    things = [
        RetentionRule("first", lambda: 4, fail),
        RetentionRule("second", lambda: 1, lambda batch: iter([1])),
    ]
    monkeypatch.setattr(retention, "all_retention_rules", lambda **_: things)
    report = prune()

    assert [
        (outcome.name, outcome.count, outcome.failure.removeprefix("OperationalError: "))
        for outcome in report
    ] == [
        ("first", 3, "It is away."),
        ("second", 1, ""),
    ]


def test_files_of_old_imports_are_removed_and_their_record_stays(db, settings):
    settings.IMPORT_RETENTION_DAYS = 30
    runs = []
    for state, days in ((ImportState.LOADED, 31), (ImportState.LOADED, 29), (ImportState.RUNNING, 31)):
        run = ImportRun(state=state, file_name="a.csv", updated=timezone.now() - timedelta(days=days))
        run.upload.save(f"{state}-{days}.csv", ContentFile(b"1"), save=False)
        run.problem_file.save(f"{state}-{days}.csv", ContentFile(b"2"), save=False)
        run.save()
        ImportProblem.objects.create(import_run=run, line=1, code="E_ZIP")
        runs.append((run, [run.upload.name, run.problem_file.name]))

    prune()

    for (run, names), kept in zip(runs, (False, True, True), strict=True):
        run.refresh_from_db()
        assert [default_storage.exists(name) for name in names] == [kept, kept]
        assert bool(run.upload) is bool(run.problem_file) is run.problems.exists() is kept


def test_file_that_cannot_be_deleted_does_not_stop_the_other_rules(db, settings, tmp_path, monkeypatch):
    """Recipients, proofs and rows of batches were kept for as long as one old import file could not be deleted."""

    def refuse(name):
        raise PermissionError(13, "Permission denied", name)

    settings.MEDIA_ROOT = tmp_path
    run = ImportRun(state=ImportState.LOADED, file_name="a.csv", updated=timezone.now() - timedelta(days=400))
    run.upload.save("a.csv", ContentFile(b"1"), save=False)
    run.save()
    monkeypatch.setattr(run.upload.storage, "delete", refuse)

    report = prune()

    assert [outcome.name for outcome in report] == [rule.name for rule in all_retention_rules()]
    failures = {outcome.name: outcome.failure for outcome in report if outcome.failure}
    assert failures == {"files of old imports": "PermissionError"}


def test_old_rows_of_applications_are_removed_with_their_children(world, monkeypatch):
    monkeypatch.setattr(webhooks, "check_webhook", lambda *args, **kwargs: None)
    webhook, _ = create_webhook(
        application=world.application, values={"URL": "https://hooks.example/in", "EventTypes": ["*"]}
    )
    rotate_secret(webhook=webhook)
    record_event(application_id=world.application.pk, store_id="", type="webhook.test", data={})
    delivery = Delivery.objects.get()
    DeliveryAttempt.objects.create(delivery=delivery, timestamp=timezone.now(), milliseconds=1)
    DailyUsage.objects.create(
        application=world.application, day=date(2024, 1, 1), calls=1, client_errors=0, server_errors=0
    )

    with time_machine.travel(timezone.now() + timedelta(days=29)):
        prune()
        assert (Event.objects.count(), DeliveryAttempt.objects.count(), DailyUsage.objects.count()) == (
            1,
            1,
            0,
        )
        assert WebhookSecret.objects.count() == 1, "the old secret has expired"
    delete_webhook(webhook=webhook)
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        prune()
    assert (Delivery.objects.count(), Webhook.objects.count(), Event.objects.count()) == (0, 0, 1)
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        prune()
    assert not Event.objects.exists()


def test_failed_jobs_are_removed_after_thirty_days(db):
    with connection.cursor() as cursor:
        for status, days in (("failed", 31), ("failed", 29), ("todo", 31)):
            cursor.execute(
                "INSERT INTO procrastinate_jobs (task_name, queue_name, status) VALUES ('t', %s, %s) RETURNING id",
                [f"{status}-{days}", status],
            )
            job = cursor.fetchone()[0]
            cursor.execute(
                "INSERT INTO procrastinate_events (job_id, type, at)"
                " VALUES (%s, 'failed', now() - %s * interval '1 day')",
                [job, days],
            )
        assert counts()["failed jobs"] == 1
        prune(batch=1)
        cursor.execute("SELECT queue_name FROM procrastinate_jobs ORDER BY 1")
        assert [name for (name,) in cursor.fetchall()] == ["failed-29", "todo-31"]
