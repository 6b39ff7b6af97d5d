"""Sends test events, and sends deliveries again."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _

from applications.webhooks.event_types import EventType, named_types
from applications.webhooks.models import Delivery, DeliveryState, Event, Webhook
from applications.webhooks.selectors.deliveries import find_delivery
from applications.webhooks.selectors.webhooks import RETENTION
from applications.webhooks.services.delivery_attempts import LEASE
from applications.webhooks.services.webhooks import lock_webhook
from fulfillment.core.db.locks import long_transaction
from fulfillment.core.db.prepared import database_now, execute
from fulfillment.core.errors import Conflict, Invalid

MAX_RESENT = 100
# Attempts that a resent delivery keeps: a log shows all of them, and a caller may resend without end.
KEPT_ATTEMPTS = 20
FORGET_ATTEMPTS = """
DELETE FROM applications_deliveryattempt WHERE id IN (
    SELECT id FROM (
        SELECT id, row_number() OVER (PARTITION BY delivery_id ORDER BY id DESC) AS place
        FROM applications_deliveryattempt WHERE delivery_id = ANY(%s)
    ) numbered WHERE place > %s
)
"""
# Test events belong to one webhook.
RECOVERABLE = tuple(name for name in EventType.values if name != EventType.WEBHOOK_TEST)
# Skips deliveries that a worker may hold: due within a lease, without an attempt since it began.
RECOVER = """
INSERT INTO applications_delivery AS known (event_id, webhook_id, state, tries, next_try, created)
SELECT id, %(webhook)s, 'Pending', 0, %(now)s, %(now)s FROM applications_event
WHERE application_id = %(application)s AND timestamp >= %(since)s AND type = ANY(%(types)s)
    AND (%(stores)s::varchar[] = '{}' OR store_id = '' OR store_id = ANY(%(stores)s))
ORDER BY transaction, id
ON CONFLICT (event_id, webhook_id) DO UPDATE SET state = 'Pending', tries = 0, next_try = %(now)s
WHERE known.state = 'Failed' OR (
    known.state = 'Pending' AND known.tries > 0 AND known.next_try > %(now)s
    AND (known.next_try > %(now)s + make_interval(secs => %(lease)s) OR EXISTS (
        SELECT FROM applications_deliveryattempt a
        WHERE a.delivery_id = known.id AND a.timestamp >= known.next_try - make_interval(secs => %(lease)s)
    ))
)
RETURNING id
"""


@transaction.atomic
def send_test_event(*, webhook: Webhook) -> Delivery:
    """Sends a `webhook.test` event to this webhook only, also if it does not subscribe to that type."""
    locked = _lock_enabled(webhook)
    event = Event.objects.create(
        application_id=locked.application_id,
        type=EventType.WEBHOOK_TEST,
        timestamp=database_now(),
        data={
            "WebhookID": str(locked.pk),
            "Message": "This is a test.",
            "IsTest": locked.application.is_test,
        },
    )
    Delivery.objects.create(event=event, webhook=locked, next_try=event.timestamp, created=event.timestamp)
    return find_delivery(locked, event.event_id)


@transaction.atomic
def resend_delivery(*, delivery: Delivery) -> Delivery:
    """Sends the delivery at once and restarts its schedule, even if it was delivered before."""
    webhook = _lock_enabled(delivery.webhook)
    _restart([delivery.pk])
    return find_delivery(webhook, delivery.event.event_id)


@transaction.atomic
def resend_deliveries(*, webhook: Webhook, event_ids: Sequence[UUID]) -> int:
    """Resends several deliveries; returns how many belong to this webhook."""
    locked = _lock_enabled(webhook)
    if len(event_ids) > MAX_RESENT:
        raise Invalid(
            _("You can resend at most %(max_resent)s deliveries at once.") % {"max_resent": MAX_RESENT},
            code="too_many",
        )
    deliveries = Delivery.objects.filter(webhook=locked, event__event_id__in=event_ids)
    return _restart(list(deliveries.values_list("pk", flat=True)))


@long_transaction()
def recover_deliveries(*, webhook: Webhook, since: datetime) -> int:
    """Sends failed, waiting and never sent deliveries of the webhook's events; returns their number.

    For the time it was disabled, or not there yet, back to 30 days.
    """
    now = database_now()
    if not now - RETENTION <= since <= now:
        message = "Since: events are kept for 30 days; write a moment of that time."
        raise Invalid.at("/Since", "since_out_of_range", message)
    locked = _lock_enabled(webhook)
    types = [name for name in named_types(locked.event_types) if name in RECOVERABLE]
    with connection.cursor() as cursor:
        cursor.execute(
            RECOVER,
            {
                "webhook": locked.pk,
                "application": locked.application_id,
                "since": since,
                # After the lock, which may have been waited for.
                "now": database_now(),
                "lease": LEASE.total_seconds(),
                "types": types,
                "stores": locked.store_ids,
            },
        )
        restarted = [pk for (pk,) in cursor.fetchall()]
    _forget_attempts(restarted)
    return len(restarted)


def _restart(deliveries: Sequence[int]) -> int:
    _forget_attempts(deliveries)
    return Delivery.objects.filter(pk__in=deliveries).update(
        state=DeliveryState.PENDING, tries=0, next_try=database_now()
    )


def _forget_attempts(deliveries: Sequence[int]) -> None:
    execute(FORGET_ATTEMPTS, [list(deliveries), KEPT_ATTEMPTS])


def _lock_enabled(webhook: Webhook) -> Webhook:
    locked = lock_webhook(webhook)
    if not locked.is_enabled:
        raise Conflict(_("The webhook is disabled; enable it first."), code="webhook_disabled")
    return locked
