from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from applications.operations import retention_rules
from applications.webhooks.models import Delivery, DeliveryAttempt, Event, Webhook
from applications.webhooks.services.delivery_attempts import EndpointResponse, record_attempt
from applications.webhooks.services.webhooks import delete_webhook
from tests.factories.webhooks import delivery_of, make_event, make_webhook, take_delivery

DAY = timedelta(days=1)


def prune(batch=500):
    return {rule.name: (rule.count(), sum(rule.remove(batch))) for rule in retention_rules()}


def deliver(event, webhook):
    now = timezone.now()
    claimed = take_delivery(delivery_of(event, webhook), now)
    record_attempt(claimed=claimed, response=EndpointResponse(1, 200), started=now, now=now)


@pytest.mark.parametrize("batch", [1, 500])
def test_events_are_removed_after_thirty_days_with_their_deliveries(world, batch):
    webhooks = [make_webhook(world.application) for _ in range(2)]
    old = [make_event(world.application, timestamp=timezone.now() - 30 * DAY) for _ in range(9)]
    kept = make_event(world.application, timestamp=timezone.now() - 29.9 * DAY)
    for event in [*old, kept]:
        deliver(event, webhooks[0])

    assert prune(batch)["events with their deliveries"] == (9, 9)

    assert list(Event.objects.all()) == [kept]
    assert (Delivery.objects.count(), DeliveryAttempt.objects.count()) == (2, 1)
    assert prune(batch)["events with their deliveries"] == (0, 0)


def test_deleted_webhook_is_removed_with_its_log_once_nothing_is_under_way(world):
    kept, deleted = make_webhook(world.application), make_webhook(world.application)
    for _ in range(3):
        event = make_event(world.application)
        deliver(event, deleted)
    delete_webhook(webhook=deleted)

    assert prune()["deleted webhooks"] == (0, 0)
    Webhook.objects.filter(pk=deleted.pk).update(deleted=timezone.now() - timedelta(hours=2))
    prune()

    assert list(Webhook.objects.all()) == [kept]
    assert (Delivery.objects.count(), DeliveryAttempt.objects.count(), Event.objects.count()) == (3, 0, 3)


def test_old_events_are_found_by_an_index(world):
    make_event(world.application)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO applications_event (event_id, application_id, store_id, type, timestamp, data) "
            "SELECT gen_random_uuid(), application_id, '', type, timestamp, data FROM applications_event, "
            "generate_series(1, 20000)"
        )
        cursor.execute("ANALYZE applications_event")
        cursor.execute(
            "EXPLAIN SELECT id FROM applications_event WHERE timestamp <= now() - interval '30 days' "
            "ORDER BY timestamp LIMIT 500"
        )
        assert "event_age" in "\n".join(row[0] for row in cursor.fetchall())
