"""Deliveries of a webhook with their attempts, newest first, and the health of the workers that send them."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _

from applications.webhooks.models import Delivery, DeliveryAttempt, DeliveryState, Event, Webhook
from applications.webhooks.selectors.webhooks import event_record
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import NotFound, invalid_after
from fulfillment.core.text import meta, timestamp

DEFAULT_TAKE, MAX_TAKE = 50, 200
# Workers write a heartbeat every 10 seconds (`manage.py worker`).
ALIVE = timedelta(seconds=30)
COUNT_ALIVE = "SELECT count(*) FROM procrastinate_workers WHERE last_heartbeat > now() - %s::interval"


def delivery_page(
    webhook: Webhook,
    *,
    state: DeliveryState | None = None,
    event_type: str | None = None,
    order_number: str | None = None,
    before: int | None = None,
    take: int = DEFAULT_TAKE,
) -> list[Delivery]:
    """Newest first; `before` is the pk of the last one of the page before. Three queries."""
    deliveries = _select_deliveries(webhook).order_by("-id")
    if state:
        deliveries = deliveries.filter(state=state)
    if event_type:
        deliveries = deliveries.filter(event__type=event_type)
    if order_number:
        deliveries = deliveries.filter(event__data__OrderNumber=order_number)
    if before is not None:
        deliveries = deliveries.filter(pk__lt=before)
    return list(deliveries[:take])


def events_of_order(order_id: UUID) -> QuerySet[Event]:
    """Newest first, with their deliveries and the webhooks of these."""
    deliveries = Prefetch("deliveries", Delivery.objects.select_related("webhook").order_by("id"))
    return Event.objects.filter(data__OrderID=str(order_id)).order_by("-id").prefetch_related(deliveries)


def find_delivery(webhook: Webhook, event_id: Any) -> Delivery:
    try:
        row = fetch_row("SELECT id FROM applications_event WHERE event_id = %s", [UUID(str(event_id))])
        return _select_deliveries(webhook).get(event=row[0] if row else None)
    except (ValueError, Delivery.DoesNotExist) as error:
        raise NotFound(_("The webhook has no delivery with this ID."), code="delivery_not_found") from error


def delivery_place(webhook: Webhook, event_id: str) -> int:
    """The primary key to page from; raises Invalid if it is no delivery of this webhook."""
    try:
        return find_delivery(webhook, event_id).pk
    except NotFound as error:
        raise invalid_after() from error


def delivery_record(delivery: Delivery) -> dict[str, Any]:
    """The API's record. ID is the EventID, which the receiver saw as `webhook-id`."""
    next_try = delivery.next_try if delivery.webhook.is_enabled else None
    return {
        "ID": str(delivery.event.event_id),
        "WebhookID": str(delivery.webhook_id),
        "State": delivery.state,
        "Created": timestamp(delivery.created),
        "NextTry": timestamp(next_try) if next_try else None,
        "Attempts": [attempt_record(attempt) for attempt in delivery.attempts.all()],
        "Event": event_record(delivery.event),
        "_meta": meta(),
    }


def attempt_record(attempt: DeliveryAttempt) -> dict[str, Any]:
    return {
        "Timestamp": timestamp(attempt.timestamp),
        "Milliseconds": attempt.milliseconds,
        "StatusCode": attempt.status_code,
        "Error": attempt.error or None,
        "Body": attempt.body,
    }


def _select_deliveries(webhook: Webhook) -> QuerySet[Delivery]:
    return (
        Delivery.objects.filter(webhook=webhook)
        .select_related("event", "webhook")
        .prefetch_related("attempts")
    )


def alive_workers() -> int:
    row = fetch_row(COUNT_ALIVE, [ALIVE])
    return row[0] if row else 0
