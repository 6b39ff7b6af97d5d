"""Writes events, each in the transaction of its cause."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone
from psycopg.types.json import Jsonb

from accounts.models import AssociationRequest, AssociationState
from applications.webhooks.event_types import EventType
from applications.webhooks.models import DeliveryAttempt, Event
from fulfillment.core.audit.personal_data import erase_words
from fulfillment.core.db.locks import check_events_allowed, long_transaction
from fulfillment.core.db.prepared import execute, fetch_row

# One round trip: the event, and a delivery for each webhook that subscribes to it.
RECORD = """
WITH event AS (
    INSERT INTO applications_event (event_id, application_id, user_id, store_id, type, timestamp, data)
    SELECT %(event_id)s, application.id, %(user)s, %(store)s, %(type)s, %(timestamp)s,
           %(data)s || jsonb_build_object('IsTest', application.is_test)
    FROM applications_application application WHERE application.id = %(application)s
    RETURNING id
), hearing AS (
    SELECT id FROM applications_webhook
    WHERE application_id = %(application)s AND is_enabled
        AND event_types && %(patterns)s::varchar[]
        AND (store_ids = '{}' OR %(store)s = '' OR %(store)s = ANY(store_ids))
)
INSERT INTO applications_delivery (event_id, webhook_id, state, tries, next_try, created)
SELECT event.id, hearing.id, 'Pending', 0, now(), now() FROM event, hearing
"""
TYPES = {
    AssociationState.APPROVED: EventType.ASSOCIATION_APPROVED,
    AssociationState.DENIED: EventType.ASSOCIATION_DENIED,
}


def record_event(
    *,
    application_id: UUID,
    store_id: str,
    type: str,  # noqa: A002 - the envelope's own name
    data: Mapping[str, Any],
    timestamp: datetime | None = None,
    user_id: UUID | None = None,
) -> UUID:
    """Writes an event for an application, to be sent to its webhooks, and returns its EventID.

    Call it only inside the transaction of the change. `IsTest`, the application's mode, is added to `data`, which
    must stay below 20 kB and contain no data of recipients. `user_id` is the user whose record it is about, if any.
    `store_id` is empty for events of no store, which all webhooks receive.
    """
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("An event belongs into the transaction of its change.")
    check_events_allowed()
    event_id = uuid4()
    parameters = {
        "event_id": event_id,
        "application": application_id,
        "user": user_id,
        "store": store_id,
        "type": type,
        "timestamp": timestamp or timezone.now(),
        "data": Jsonb(dict(data)),
        "patterns": [type, f"{type.partition('.')[0]}.*", "*"],
    }
    execute(RECORD, parameters)
    return event_id


@transaction.atomic
def redact_events(*, application_id: UUID, order_id: str, words: Sequence[str]) -> int:
    """Removes the texts from the order's events and the responses to them; the number of events changed."""
    changed = 0
    of_order = Event.objects.filter(application=application_id, data__OrderID=order_id)
    events = list(of_order.select_for_update(of=("self",)).order_by("pk"))
    for attempt in DeliveryAttempt.objects.filter(delivery__event__in=events).exclude(body=""):
        body = erase_words(attempt.body, words)
        if body != attempt.body:
            DeliveryAttempt.objects.filter(pk=attempt.pk).update(body=body)
    for event in events:
        data = erase_words(event.data, words)
        if data != event.data:
            event.data = data
            event.save(update_fields=["data"])
            changed += 1
    return changed


def remove_order_events(*, order_ids: Sequence[UUID]) -> None:
    """Removes the events and deliveries of orders; call it without a lock, for one may have 200,000 attempts."""
    for order_id in order_ids:
        with long_transaction():
            Event.objects.filter(data__OrderID=str(order_id)).delete()


@transaction.atomic
def renumber_events_after_restore() -> bool:
    """Adapts events after a restore into a new PostgreSQL, whose transaction numbers restart; returns whether it did.

    Otherwise readers would wait for transaction numbers far in the future. Events of an application are then in the
    order of `id`.
    """
    row = fetch_row(
        "SELECT transaction >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint "
        "FROM applications_event ORDER BY id DESC LIMIT 1"
    )
    if row is None or not row[0]:
        return False
    execute("UPDATE applications_event SET transaction = 0")
    return True


def record_decision_event(*, request: AssociationRequest) -> None:
    store_id = request.store.external_id if request.store else ""
    record_event(
        application_id=request.application_id,
        store_id=store_id,
        type=TYPES[AssociationState(request.state)],
        timestamp=request.decided,
        data={
            "AssociationID": str(request.pk),
            "StoreID": store_id or None,
            "UserID": str(request.user_id) if request.user_id else None,
            "State": request.state,
            "Grants": list(request.grants),
        },
    )
