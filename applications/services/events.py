from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from applications.models import Event
from fulfillment.erasure import without_words
from fulfillment.statements import insert_row


def record_event(
    *,
    application_id: UUID,
    store_id: str,
    type: str,  # noqa: A002 - the envelope's own name
    data: Mapping[str, Any],
    timestamp: datetime | None = None,
) -> None:
    """Writes an event for an application; only inside the transaction of the change it tells of.

    `data` must stay below 20 kB and hold nothing of a recipient.
    """
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("An event belongs into the transaction of its change.")
    insert_row(
        Event(
            application_id=application_id,
            store_id=store_id,
            type=type,
            timestamp=timestamp or timezone.now(),
            data=dict(data),
        )
    )


@transaction.atomic
def redact_events(*, application_id: UUID, order_id: str, words: Sequence[str]) -> int:
    """Takes the words out of what was told about an order; returns how many events changed."""
    changed = 0
    told = Event.objects.filter(application=application_id, data__OrderID=order_id)
    for event in told.select_for_update(of=("self",)).order_by("pk"):
        data = without_words(event.data, words)
        if data != event.data:
            event.data = data
            event.save(update_fields=["data"])
            changed += 1
    return changed
