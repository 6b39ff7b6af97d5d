"""The life of one delivery, with a clock that tests turn by hand."""

import threading
from datetime import UTC, datetime, timedelta

import orjson
import pytest
from django.db import connection, connections
from django.utils import timezone

from applications.webhooks.models import Delivery, DeliveryAttempt, Event, Webhook
from applications.webhooks.sending.sender import Sender
from applications.webhooks.services.deliveries import resend_delivery
from applications.webhooks.services.delivery_attempts import (
    CLAIM_DUE,
    DELAYS,
    LEASE,
    MAX_AT_ONCE,
    WITH_DUE,
    EndpointResponse,
    claim_due_deliveries,
    record_attempt,
    webhooks_with_due_deliveries,
)
from applications.webhooks.services.webhooks import change_webhook
from tests.factories.webhooks import delivery_of, make_event, make_webhook, take_delivery

SECOND = timedelta(seconds=1)


@pytest.fixture
def webhook(world):
    return make_webhook(world.application)


@pytest.fixture
def delivery(world, webhook):
    return delivery_of(make_event(world.application, data={"Sequence": 3}), webhook)


def take_due(webhook, now, limit=10):
    return claim_due_deliveries(webhook_id=webhook.pk, limit=limit, now=now)


def fail(taken, now, **response):
    record_attempt(
        claimed=taken,
        response=EndpointResponse(**({"milliseconds": 7, "status": 500} | response)),
        started=now,
        now=now,
    )


def test_webhooks_say_how_many_are_due_and_count_no_further_than_is_taken(world):
    busy, idle, quiet = (make_webhook(world.application) for _ in range(3))
    for _ in range(MAX_AT_ONCE + 4):
        make_event(world.application)
    now = timezone.now()
    take_due(idle, now, limit=MAX_AT_ONCE + 1)
    take_due(quiet, now, limit=100)

    due_counts = webhooks_with_due_deliveries(now=now)

    owner = (world.application.pk, world.application.user_id)
    assert sorted(due_counts, key=lambda row: -row[3]) == [
        (busy.pk, *owner, MAX_AT_ONCE),
        (idle.pk, *owner, 3),
    ]


def test_applications_of_an_unconfirmed_account_count_for_the_person_who_made_it(world, webhook, delivery):
    owner = webhook.application.user
    owner.counted_on, owner.email_confirmed = world.outsider, None
    owner.save()

    [(_, _, person, _)] = webhooks_with_due_deliveries(now=delivery.next_try)

    assert person == world.outsider.pk


def test_poll_takes_one_statement_while_nothing_is_due(webhook, django_assert_num_queries):
    sender = Sender(client=None)
    # Once a second it looks up which partition is the newest.
    sender._due()

    with django_assert_num_queries(1):
        assert sender._due() == []


def test_new_delivery_is_due_at_once_and_makes_no_job(webhook, delivery):
    assert webhooks_with_due_deliveries(now=delivery.next_try) == [
        (webhook.pk, webhook.application_id, webhook.application.user_id, 1)
    ]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM procrastinate_jobs")
        assert cursor.fetchone() == (0,)


def test_body_is_the_envelope(world, delivery):
    event = delivery.event

    claimed = take_delivery(delivery, timezone.now())

    assert orjson.loads(claimed.body) == {
        "EventID": str(event.event_id),
        "Type": "order.received",
        "Timestamp": event.timestamp.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "StoreID": "associated",
        "ApplicationID": str(world.application.pk),
        "Data": {"Sequence": 3, "IsTest": False},
    }


def test_failing_delivery_is_tried_ten_times_over_the_schedule(webhook, delivery):
    now = timezone.now()
    taken = take_delivery(delivery, now)
    for number, delay in enumerate(DELAYS, start=1):
        assert taken.tries == number
        fail(taken, now)
        delivery.refresh_from_db()
        wait = delivery.next_try - now
        assert delay * 0.9 <= wait <= delay * 1.1
        assert webhooks_with_due_deliveries(now=delivery.next_try - SECOND) == []
        assert take_due(webhook, delivery.next_try - SECOND) == []
        now = delivery.next_try
        assert webhooks_with_due_deliveries(now=now) == [
            (webhook.pk, webhook.application_id, webhook.application.user_id, 1)
        ]
        (taken,) = take_due(webhook, now)
    fail(taken, now)

    delivery.refresh_from_db()
    assert (taken.tries, delivery.state, delivery.next_try) == (10, "Failed", None)
    assert DeliveryAttempt.objects.count() == 10
    assert webhooks_with_due_deliveries(now=now + timedelta(days=9)) == []


def test_success_ends_the_schedule_and_is_logged(delivery):
    now = timezone.now()
    claimed = take_delivery(delivery, now)
    fail(claimed, now, status=None, error="No connection")
    (again,) = take_due(delivery.webhook, now + timedelta(minutes=1))
    record_attempt(claimed=again, response=EndpointResponse(12, 204, "thanks"), started=now, now=now)

    delivery.refresh_from_db()
    first, second = delivery.attempts.all()
    assert (delivery.state, delivery.next_try) == ("Delivered", None)
    assert (first.status_code, first.error, first.milliseconds) == (None, "No connection", 7)
    assert (second.status_code, second.body, second.milliseconds) == (204, "thanks", 12)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_retry_after_is_honoured(delivery, status):
    now = timezone.now()
    fail(take_delivery(delivery, now), now, status=status, retry_after="3600")

    delivery.refresh_from_db()
    assert delivery.next_try == now + timedelta(hours=1)


@pytest.mark.parametrize("status", [301, 400, 404, 429, 500, 503, 599])
def test_anything_but_success_is_tried_again(webhook, delivery, status):
    now = timezone.now()
    fail(take_delivery(delivery, now), now, status=status)

    delivery.refresh_from_db()
    webhook.refresh_from_db()
    assert (delivery.state, webhook.is_enabled, webhook.failing_since) == ("Pending", True, now)


def test_gone_disables_the_webhook_at_once(webhook, delivery):
    now = timezone.now()
    fail(take_delivery(delivery, now), now, status=410)

    delivery.refresh_from_db()
    webhook.refresh_from_db()
    assert (delivery.state, webhook.is_enabled) == ("Failed", False)
    assert "410" in webhook.disabled_reason
    assert Event.objects.filter(type="webhook.disabled").count() == 1
    assert delivery.attempts.get().status_code == 410


def test_disabled_webhook_waits_and_continues_when_enabled(webhook, delivery):
    now = timezone.now() + timedelta(hours=1)
    change_webhook(webhook=webhook, values={"IsEnabled": False})

    assert take_delivery(delivery, now) is None
    assert webhooks_with_due_deliveries(now=now) == take_due(webhook, now) == []
    change_webhook(webhook=webhook, values={"IsEnabled": True})
    assert [taken.delivery_id for taken in take_due(webhook, now)] == [delivery.pk]


def test_attempts_go_to_the_present_address(webhook, delivery):
    now = timezone.now()
    fail(take_delivery(delivery, now), now)
    change_webhook(webhook=webhook, values={"URL": "https://192.0.43.8/moved"})

    (taken,) = take_due(webhook, now + timedelta(minutes=1))

    assert taken.url == "https://192.0.43.8/moved"


def test_work_of_a_killed_worker_is_due_again_within_a_minute(webhook, delivery):
    now = timezone.now()
    assert take_delivery(delivery, now)

    assert take_delivery(delivery, now) is None
    assert webhooks_with_due_deliveries(now=now + LEASE - SECOND) == []
    assert timedelta(seconds=55) >= LEASE
    (again,) = take_due(webhook, now + LEASE)
    assert (again.delivery_id, again.tries) == (delivery.pk, 2)


def test_resend_during_an_attempt_keeps_its_new_schedule(delivery):
    now = timezone.now()
    claimed = take_delivery(delivery, now)
    resend_delivery(delivery=delivery)
    fail(claimed, now)

    delivery.refresh_from_db()
    assert (delivery.state, delivery.tries) == ("Pending", 0)
    assert take_delivery(delivery)


def test_longest_due_comes_first_and_limited(world, webhook):
    now = timezone.now() + timedelta(minutes=5)
    first, second, third = (delivery_of(make_event(world.application), webhook) for _ in range(3))
    Delivery.objects.filter(pk=third.pk).update(next_try=now - timedelta(hours=1))

    assert [taken.delivery_id for taken in take_due(webhook, now, limit=1)] == [third.pk]
    assert {taken.delivery_id for taken in take_due(webhook, now)} == {first.pk, second.pk}


def test_prepared_statements_use_the_indexes(world, webhook):
    """Beside many that wait, the next ones are found without reading the others."""
    event = make_event(world.application)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO applications_event (event_id, application_id, store_id, type, timestamp, data) "
            "SELECT gen_random_uuid(), application_id, '', type, timestamp, data FROM applications_event, "
            "generate_series(1, 20000)"
        )
        cursor.execute(
            "INSERT INTO applications_delivery (event_id, webhook_id, state, tries, next_try, created) "
            "SELECT id, %s, 'Pending', 1, now() + interval '1 day', now() FROM applications_event "
            "WHERE id > %s",
            [webhook.pk, event.pk],
        )
        cursor.execute("ANALYZE applications_delivery")
        now = datetime.now(UTC)
        for statement, more in (
            (CLAIM_DUE, {"webhook": webhook.pk, "limit": 16}),
            (WITH_DUE, {}),
            (WITH_DUE, {"now": None}),
        ):
            cursor.execute(f"EXPLAIN {statement}", {"now": now, "lease": now, **more})
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "delivery_due" in plan, plan
            assert "Seq Scan on applications_delivery" not in plan, plan


@pytest.mark.django_db(transaction=True)
def test_two_workers_never_take_the_same(world):
    webhook = make_webhook(world.application)
    for _ in range(60):
        make_event(world.application)
    now = timezone.now() + timedelta(minutes=1)
    delivery_ids: list[int] = []
    start = threading.Barrier(4)

    def work():
        try:
            start.wait()
            while taken := take_due(webhook, now, limit=7):
                delivery_ids.extend(claimed.delivery_id for claimed in taken)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(delivery_ids) == len(set(delivery_ids)) == 60
    assert Webhook.objects.get().failing_since is None
