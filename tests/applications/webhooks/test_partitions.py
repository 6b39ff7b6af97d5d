"""Events, deliveries and attempts across the boundary between two partitions."""

import time
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from applications.webhooks.models import Delivery, DeliveryAttempt, Event
from applications.webhooks.selectors import events
from applications.webhooks.selectors.deliveries import delivery_page, find_delivery
from applications.webhooks.selectors.events import Cursor, event_page, place_of
from applications.webhooks.sending.client import Answer
from applications.webhooks.sending.sender import Sender
from applications.webhooks.services import retention
from applications.webhooks.services.deliveries import recover_deliveries, resend_deliveries, resend_delivery
from applications.webhooks.services.delivery_attempts import (
    CLAIM_DUE,
    claim_due_deliveries,
    newest_event,
    record_attempt,
    webhooks_with_due_deliveries,
)
from applications.webhooks.services.events import redact_events, remove_order_events
from fulfillment.core.db.partitions import WIDTH, without_older
from tests.factories.webhooks import delivery_of, make_event, make_webhook
from tests.support.live_server import database_url

DAY = timedelta(days=1)
EVENTS = retention.EVENTS
ORDER = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
def webhook(world):
    return make_webhook(world.application)


@pytest.fixture
def pair(world, webhook) -> tuple[Event, Event]:
    """The last event of a partition and the first of the next."""
    before = make_event(world.application, data={"OrderID": ORDER})
    EVENTS.add(1)
    after = make_event(world.application, data={"OrderID": ORDER})
    # A later transaction has ended, as it has when events are read that were committed.
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("SELECT pg_current_xact_id()")
    return before, after


def partitions_of(model) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT tableoid::regclass::text FROM {model._meta.db_table} ORDER BY id")
        return [name.rpartition("_")[2] for (name,) in cursor.fetchall()]


def send(webhook, *, status=200, since=0):
    now = timezone.now() + timedelta(seconds=1)
    taken = claim_due_deliveries(webhook_id=webhook.pk, limit=9, now=now, since=since)
    for one in taken:
        record_attempt(taken=one, answer=Answer(1, status, body="Otto"), started=now, now=now)
    return [one.event_id for one in taken]


def prune():
    # Foreign keys that wait for the end of the transaction would keep tables from being dropped.
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    rule = next(one for one in retention.retention_rules() if one.name == "events with their deliveries")
    return rule.count(), sum(rule.remove(500))


def age(event, days):
    Event.objects.filter(pk=event.pk).update(timestamp=timezone.now() - days * DAY)


def test_rows_of_an_event_are_in_its_partition(webhook, pair):
    send(webhook)

    assert [partitions_of(model) for model in (Event, Delivery, DeliveryAttempt)] == [["p0", "p1"]] * 3
    assert pair[1].pk == WIDTH
    assert delivery_of(pair[1], webhook).pk == WIDTH


@pytest.mark.parametrize("at_once", [0, 100_000])
def test_events_are_read_in_order_across_the_boundary(world, pair, monkeypatch, at_once):
    monkeypatch.setattr(events, "SETTLED", 10**18)
    monkeypatch.setattr(events, "MOST_AT_ONCE", at_once)
    before, after = pair

    first = event_page(world.application, take=1)
    assert first.events == [before]
    assert event_page(world.application, after=first.next).events == [after]
    assert event_page(world.application, after=place_of(world.application, str(after.event_id))).events == []
    assert place_of(world.application, str(before.event_id)) == Cursor(before.transaction, before.pk)


def test_page_after_a_recent_event_reads_one_partition(world, pair):
    after = Cursor(pair[1].transaction, WIDTH + events.MOST_AT_ONCE)
    with CaptureQueriesContext(connection) as queries:
        event_page(world.application, after=after)
    statements = [query["sql"] for query in queries if "applications_event" in query["sql"]]
    assert f'"id" >= {WIDTH}' in statements[0]
    assert f"id >= {WIDTH}::bigint" in statements[1]


def test_delivery_log_is_in_order_across_the_boundary(webhook, pair):
    newest, older = delivery_page(webhook)
    assert [newest.event, older.event] == [pair[1], pair[0]]
    assert delivery_page(webhook, before=newest.pk) == [older]
    assert delivery_page(webhook, before=older.pk) == []
    for delivery in (newest, older):
        assert find_delivery(webhook, delivery.event.event_id) == delivery


def test_deliveries_of_both_partitions_are_claimed_and_the_newest_alone(webhook, pair):
    now = timezone.now() + timedelta(seconds=1)
    assert [row[2] for row in webhooks_with_due_deliveries(now=now)] == [2]
    assert [row[2] for row in webhooks_with_due_deliveries(now=now, since=newest_event())] == [1]
    assert send(webhook, since=newest_event()) == [pair[1].event_id]
    assert send(webhook) == [pair[0].event_id]
    assert set(Delivery.objects.values_list("state", flat=True)) == {"Delivered"}


def test_claim_from_the_newest_partition_plans_no_other(webhook, pair):
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(
            f"EXPLAIN {without_older(CLAIM_DUE, newest_event())}",
            {"webhook": webhook.pk, "limit": 16, "now": now, "lease": now},
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "_p1" in plan
    assert "_p0" not in plan


def test_sender_looks_into_all_partitions_once_a_second(webhook, pair, monkeypatch):
    sender = Sender(client=None)
    monkeypatch.setattr("applications.webhooks.sending.sender.WHOLE_POLL_SECONDS", 60)
    Delivery.objects.update(next_try=timezone.now() - DAY)

    assert [sender._due()[0][2], sender._since] == [2, 0]
    assert [sender._due()[0][2], sender._since] == [1, WIDTH]
    sender._whole_poll = 0
    assert sender._due()[0][2] == 2


def test_deliveries_of_an_older_partition_are_sent_again(webhook, pair):
    for resend in (
        lambda: resend_delivery(delivery=delivery_of(pair[0], webhook)),
        lambda: resend_deliveries(webhook=webhook, event_ids=[pair[0].event_id]),
    ):
        send(webhook)
        resend()
        assert send(webhook) == [pair[0].event_id]
    assert DeliveryAttempt.objects.filter(delivery__event=pair[0]).count() == 3


def test_recovered_delivery_is_with_its_event_and_made_once(world, webhook, pair):
    later = make_webhook(world.application)
    for _ in range(2):
        recover_deliveries(webhook=later, since=timezone.now() - DAY)
    assert Delivery.objects.filter(webhook=later).count() == 2
    recovered = delivery_of(pair[0], later)
    assert recovered.pk > WIDTH > recovered.event_id
    assert delivery_page(later) == list(Delivery.objects.filter(webhook=later).order_by("-id"))


def test_expired_partition_goes_with_everything_that_belongs_to_its_events(world, webhook, pair, monkeypatch):
    monkeypatch.setattr(retention, "EVENTS", replace(EVENTS, few=0))
    later = make_webhook(world.application)
    recover_deliveries(webhook=later, since=timezone.now() - DAY)
    send(webhook)
    send(later)
    kept = set(DeliveryAttempt.objects.filter(delivery__event=pair[1]).values_list("pk", flat=True))
    age(pair[0], 31)

    assert prune() == (1, 1)

    assert [set(partitions_of(model)) for model in (Event, Delivery, DeliveryAttempt)] == [{"p1"}] * 3
    assert set(DeliveryAttempt.objects.values_list("pk", flat=True)) == kept, "also of the recovered delivery"
    assert EVENTS.numbers() == [1]
    assert send(webhook) == []


def test_pending_deliveries_of_an_expired_partition_go_with_it(webhook, pair):
    age(pair[0], 31)
    assert prune() == (1, 1)
    assert list(Delivery.objects.values_list("event", flat=True)) == [pair[1].pk]
    assert len(webhooks_with_due_deliveries(now=timezone.now())) == 1


def test_expired_event_beside_younger_ones_of_its_partition_goes_alone(world, webhook):
    old, young = make_event(world.application), make_event(world.application)
    EVENTS.add(1)
    age(old, 31)

    assert prune() == (1, 1)
    assert list(Event.objects.all()) == [young]
    assert EVENTS.numbers() == [0, 1]


def test_texts_are_erased_in_every_partition(world, webhook, pair):
    for event in pair:
        Event.objects.filter(pk=event.pk).update(data={"OrderID": ORDER, "Note": "Otto"})
    send(webhook)

    assert redact_events(application_id=world.application.pk, order_id=ORDER, words=["Otto"]) == 2
    assert not [event for event in Event.objects.all() if "Otto" in str(event.data)]
    assert not DeliveryAttempt.objects.filter(body__contains="Otto").exists()


def test_events_of_a_removed_order_go_with_their_deliveries_from_every_partition(webhook, pair):
    send(webhook)
    remove_order_events(order_ids=[ORDER])
    assert [model.objects.count() for model in (Event, Delivery, DeliveryAttempt)] == [0, 0, 0]


def test_many_expired_events_go_within_a_second(world):
    """A small version of tests/benchmarks/webhooks.py."""
    webhooks = [make_webhook(world.application) for _ in range(3)]
    event = make_event(world.application, timestamp=timezone.now() - 31 * DAY)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO applications_event (event_id, application_id, store_id, type, timestamp, data) "
            "SELECT gen_random_uuid(), application_id, '', type, timestamp, data FROM applications_event, "
            "generate_series(1, 20000)"
        )
        cursor.execute(
            "INSERT INTO applications_delivery (event_id, webhook_id, state, tries, next_try, created) "
            "SELECT e.id, w.id, 'Pending', 0, now(), now() FROM applications_event e, applications_webhook w "
            "WHERE e.id > %s",
            [event.pk],
        )
    EVENTS.add(1)
    kept = make_event(world.application)
    started = time.monotonic()
    assert prune() == (20_001, 20_001)
    assert time.monotonic() - started < 1
    assert list(Event.objects.all()) == [kept]
    assert Delivery.objects.count() == len(webhooks)
