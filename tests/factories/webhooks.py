from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from applications.registration.models import Application
from applications.webhooks.models import Delivery, Event, Webhook
from applications.webhooks.selectors.webhooks import SETTLED, Cursor, event_page
from applications.webhooks.services.delivery_attempts import ClaimedDelivery, claim_due_deliveries
from applications.webhooks.services.events import record_event
from applications.webhooks.services.webhooks import create_webhook
from tests.support.at_once import at_once
from tests.support.patience import PATIENCE, wait_for

# An address of the public Internet (example.com's owner), which no test connects to.
PUBLIC_URL = "https://192.0.43.8/events"


def make_webhook(
    application: Application,
    url: str = PUBLIC_URL,
    *,
    event_types: Sequence[str] = ("*",),
    store_ids: Sequence[str] = (),
) -> Webhook:
    """Its secret is readable as `known_secret`."""
    values = {"URL": url, "EventTypes": list(event_types), "StoreIDs": list(store_ids)}
    webhook, secret = create_webhook(application=application, values=values)
    webhook.known_secret = secret
    return webhook


def make_event(
    application: Application,
    type: str = "order.received",  # noqa: A002
    *,
    store_id: str = "associated",
    data: dict[str, Any] | None = None,
    timestamp: datetime | None = None,
) -> Event:
    with transaction.atomic():
        event_id: UUID = record_event(
            application_id=application.pk,
            store_id=store_id,
            type=type,
            data=data or {"Sequence": 1},
            timestamp=timestamp or timezone.now(),
        )
    return Event.objects.get(event_id=event_id)


def settle(*, seconds: float = PATIENCE) -> None:
    """Waits until all events there are can be read: transactions of other databases of the server hold them back."""
    wait_for(lambda: not Event.objects.filter(transaction__gte=SETTLED).exists(), seconds, every=0.02)


def look_before(patch: Any, module: Any, step: str, application: Application, found: list[bool]) -> None:
    """Adds to `found`, before each of these steps of a transaction, whether an event from beside it can be read."""
    taken = getattr(module, step)

    def is_read() -> Any:
        event = make_event(application)
        before = Cursor(event.transaction, event.pk - 1)
        return wait_for(lambda: event_page(application, after=before).events == [event])

    def looked(*args: Any, **kwargs: Any) -> Any:
        found.extend(at_once(is_read))
        return taken(*args, **kwargs)

    patch.setattr(module, step, looked)


def delivery_of(event: Event, webhook: Webhook) -> Delivery:
    return Delivery.objects.get(event=event, webhook=webhook)


def take_delivery(delivery: Delivery, now: datetime | None = None) -> ClaimedDelivery | None:
    """This one alone, if it is due: made the longest due of its webhook."""
    now = now or timezone.now()
    waiting = Delivery.objects.filter(pk=delivery.pk, state="Pending", next_try__lte=now)
    if not waiting.update(next_try=now - timedelta(days=1)):
        return None
    found = claim_due_deliveries(webhook_id=delivery.webhook_id, limit=1, now=now)
    return found[0] if found else None
