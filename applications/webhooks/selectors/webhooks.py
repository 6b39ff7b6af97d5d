"""Webhooks that a caller may read or change, and events, paged in the order of their commits."""

import base64
import binascii
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.db.models import BigIntegerField, BooleanField, F, Func, IntegerField, Q, QuerySet, TextField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.callers import Caller
from applications.registration.models import Application
from applications.registration.selectors.applications import (
    application_for,
    application_in_mode,
    application_to_write,
)
from applications.webhooks.event_types import PATTERNS, EventType, named_types
from applications.webhooks.models import Event, Webhook
from fulfillment.core.db.locks import LONG_TRANSACTIONS_LOCK
from fulfillment.core.db.prepared import fetch_row
from fulfillment.core.errors import Invalid, NotFound
from fulfillment.core.text import meta, parse_uuid, timestamp

RETENTION = timedelta(days=30)
DEFAULT_TAKE, MAX_TAKE = 100, 1000
UUID_LENGTH = 36
# The size of the data on a page as they are stored, which PostgreSQL knows without reading them.
PAGE_BYTES = 250_000
_CURSOR = re.compile(r"e([0-9]{1,18})\.([0-9]{1,18})\Z")
# All transactions with lower numbers have ended, so their events are final. One
# that still runs holds back all later events, so that no cursor passes an event that is not yet visible.
# It is the lowest number of any running transaction of the server; LAST_SETTLED is more exact and dearer.
SETTLED = Cast(
    Cast(Func(Func(function="pg_current_snapshot"), function="pg_snapshot_xmin"), output_field=TextField()),
    output_field=BigIntegerField(),
)
# The number that the next transaction gets and, if the application has events that are held back, the lowest number of
# a running transaction that may write events: long transactions and those of other databases cannot. A running
# transaction whose locks are not found has just ended; it still holds events back, until the next snapshot.
LAST_SETTLED = """
WITH present AS MATERIALIZED (
    SELECT snapshot, pg_snapshot_xmax(snapshot)::text::bigint AS next_number FROM pg_current_snapshot() AS snapshot
), locks AS MATERIALIZED (
    SELECT * FROM pg_locks WHERE granted
), passed AS MATERIALIZED (
    SELECT numbered.transactionid FROM locks numbered JOIN locks other USING (pid)
    WHERE numbered.locktype = 'transactionid' AND numbered.mode = 'ExclusiveLock' AND (
        other.database NOT IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
        OR (other.locktype, other.classid, other.objid, other.objsubid) = ('advisory', %(lock)s, %(key)s, 2)
    )
)
SELECT next_number, CASE WHEN (
    SELECT max(transaction) FROM applications_event WHERE application_id = %(application)s
) >= pg_snapshot_xmin(snapshot)::text::bigint THEN (
    SELECT least(next_number, min(running::text::bigint)) FROM pg_snapshot_xip(snapshot) AS running
    WHERE NOT EXISTS (SELECT FROM passed WHERE transactionid = running::xid)
) END FROM present
"""


def application_webhooks(application: Application) -> QuerySet[Webhook]:
    return Webhook.objects.filter(application=application, deleted__isnull=True).order_by("created", "pk")


def application_to_hook(caller: Caller, application_id: str) -> Application:
    """An application whose webhooks the caller may change: itself, or one that the user may change."""
    if caller.is_application:
        return application_for(caller, application_id)
    return application_to_write(caller, application_id)


def webhook_for(caller: Caller, application_id: str, webhook_id: Any) -> Webhook:
    return find_webhook(application_for(caller, application_id), webhook_id)


def webhook_to_write(caller: Caller, application_id: str, webhook_id: Any) -> Webhook:
    return find_webhook(application_to_hook(caller, application_id), webhook_id)


def find_webhook(application: Application, webhook_id: Any) -> Webhook:
    try:
        return application_webhooks(application).select_related("application").get(pk=UUID(str(webhook_id)))
    except (ValueError, Webhook.DoesNotExist) as error:
        raise NotFound(_("The application has no webhook with this ID."), code="webhook_not_found") from error


def failing_webhooks() -> QuerySet[Webhook]:
    """Failing webhooks of all applications, the longest failing first."""
    failing = Webhook.objects.filter(failing_since__isnull=False, is_enabled=True, deleted__isnull=True)
    return failing.order_by("failing_since")


def webhook_record(webhook: Webhook, *, secret: str | None = None) -> dict[str, Any]:
    """The API's record; `secret` only right after its creation."""
    record = {
        "ID": str(webhook.pk),
        "ApplicationID": str(webhook.application_id),
        "URL": webhook.url,
        "EventTypes": webhook.event_types,
        "StoreIDs": webhook.store_ids,
        "IsEnabled": webhook.is_enabled,
        "DisabledReason": webhook.disabled_reason or None,
        "FailingSince": timestamp(webhook.failing_since) if webhook.failing_since else None,
        "Created": timestamp(webhook.created),
        "Updated": timestamp(webhook.updated),
        "_meta": meta(),
    }
    return record if secret is None else {**record, "Secret": secret}


def webhook_etag(webhook: Webhook) -> str:
    return f'"{webhook.pk.hex}-{int(webhook.updated.timestamp() * 1_000_000):x}"'


@dataclass(frozen=True, slots=True, order=True)
class Cursor:
    """A position in the order of commits; `text` is its form for clients."""

    transaction: int = 0
    id: int = 0

    @property
    def text(self) -> str:
        return base64.urlsafe_b64encode(b"e%d.%d" % (self.transaction, self.id)).decode().rstrip("=")

    @classmethod
    def of(cls, text: str) -> "Cursor":
        try:
            plain = base64.urlsafe_b64decode(text.encode("ascii") + b"==").decode("ascii")
        except (ValueError, binascii.Error):
            plain = ""
        match = _CURSOR.match(plain)
        cursor = cls(int(match[1]), int(match[2])) if match else cls()
        if cursor.text != text:
            message = "after: take it from the Link header of the page before, or write an EventID."
            raise Invalid.at("?after", "parameter_invalid", message)
        return cursor


@dataclass(frozen=True, slots=True)
class EventPage:
    """`next` is the cursor after the last event, or the same cursor for an empty page."""

    events: list[Event]
    next: Cursor


@dataclass(frozen=True, slots=True)
class EventFilters:
    """Optional filters."""

    store_id: str | None = None
    order_id: str | None = None
    created_after: datetime | None = None
    user_id: UUID | None = None

    def apply(self, events: QuerySet[Event]) -> QuerySet[Event]:
        conditions = {
            "user_id": self.user_id,
            "store_id": self.store_id,
            "data__OrderID": self.order_id,
            "timestamp__gte": self.created_after,
        }
        return events.filter(**{name: value for name, value in conditions.items() if value is not None})


def event_log_for(caller: Caller, application_id: str) -> tuple[Application, UUID | None]:
    """The application, and the user to whose own events its log is limited.

    Everybody signs in through the built-in applications, so each user reads their own there.
    """
    application = application_in_mode(caller, application_id)
    is_own_client = caller.application_id == application.pk and not caller.is_application
    if is_own_client and application.is_first_party and not caller.is_operator:
        return application, caller.user_id
    return application_for(caller, application_id), None


def parse_cursor(application: Application, text: str) -> Cursor:
    """Parses `after`: the cursor of a `Link`, or the EventID of an event of this application."""
    event_id = parse_uuid(text) if len(text) == UUID_LENGTH else None
    if event_id is None:
        return Cursor.of(text)
    event = Event.objects.filter(application=application, event_id=event_id).first()
    if event is None:
        message = "after: this application has no event with this EventID; events are kept for 30 days."
        raise Invalid.at("?after", "parameter_invalid", message)
    return Cursor(event.transaction, event.pk)


def event_page(
    application: Application,
    *,
    after: Cursor = Cursor(),
    patterns: Sequence[str] = (),
    filters: EventFilters = EventFilters(),
    take: int = DEFAULT_TAKE,
) -> EventPage:
    """Up to `take` events of the last 30 days in the order of their commits, none ever skipped; fewer, if long."""
    events = Event.objects.filter(application=application, timestamp__gt=timezone.now() - RETENTION)
    if after != Cursor():
        events = events.filter(
            Q(transaction__gte=after.transaction),
            RawSQL("(transaction, id) > (%s, %s)", [after.transaction, after.id], BooleanField()),
        )
    if patterns:
        events = events.filter(type__in=named_types(list(patterns)))
    events = filters.apply(events).order_by("transaction", "id")
    page = _first_of(events.filter(transaction__lt=SETTLED), take)
    if not page:
        next_transaction, settled = _last_settled(application)
        if after.transaction > next_transaction:
            message = "after: the database was restored from a backup since; start again without it."
            raise Invalid.at("?after", "cursor_outdated", message)
        if settled is not None:
            page = _first_of(events.filter(transaction__lt=settled), take)
    last = Cursor(page[-1].transaction, page[-1].pk) if page else after
    return EventPage(page, last)


def _first_of(events: QuerySet[Event], take: int) -> list[Event]:
    """Up to `take` events, fewer if they are long: `next` goes on after the last one."""
    if take > DEFAULT_TAKE:
        stored = Func(F("data"), function="pg_column_size", output_field=IntegerField())
        sizes = list(accumulate(events.values_list(stored, flat=True)[:take]))
        if not sizes:
            return []
        take = max(1, bisect_right(sizes, PAGE_BYTES))
    return list(events[:take])


def _last_settled(application: Application) -> tuple[int, int | None]:
    row = fetch_row(
        LAST_SETTLED,
        {"application": application.pk, "lock": LONG_TRANSACTIONS_LOCK[0], "key": LONG_TRANSACTIONS_LOCK[1]},
    )
    return row or (0, None)


def checked_patterns(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in PATTERNS and name not in EventType.values:
            allowed_names = ", ".join([*PATTERNS, *EventType.values])
            message = f"type: there is no event type {name[:60]!r}; allowed: {allowed_names}."
            raise Invalid.at("?type", "parameter_invalid", message)
    return list(names)


def event_record(event: Event) -> dict[str, Any]:
    return envelope(
        event.event_id, event.type, event.timestamp, event.store_id, event.application_id, event.data
    )


def envelope(
    event_id: UUID, kind: str, moment: datetime, store_id: str, application_id: UUID, data: Any
) -> dict[str, Any]:
    """The event as read in the API and sent to webhooks."""
    return {
        "EventID": str(event_id),
        "Type": kind,
        "Timestamp": timestamp(moment),
        "StoreID": store_id or None,
        "ApplicationID": str(application_id),
        # Events older than test applications lack the member.
        "Data": {**data, "IsTest": data.get("IsTest", False)},
    }
