from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from applications.models import Event
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
