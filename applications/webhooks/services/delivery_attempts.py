"""The hot path of workers: claims deliveries and records attempts, with one statement each."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from django.db import transaction

from applications.webhooks.models import DeliveryState, Webhook
from applications.webhooks.selectors.webhooks import envelope
from applications.webhooks.services.webhooks import disable_webhook
from fulfillment.core.db.prepared import execute, fetch_rows

# The delay after the first, second, … failed attempt.
DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 7200, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)
MAX_TRIES = len(DELAYS) + 1
JITTER = 0.1
MAX_WAIT = timedelta(hours=24)

_random = random.SystemRandom()
# An attempt takes at most 15 s; a delivery not recorded within the lease was held by a killed worker.
LEASE = timedelta(seconds=40)
# Due deliveries are counted up to this number, which is sent to a webhook at once.
MAX_AT_ONCE = 16
GONE = 410
# MATERIALIZED: evaluated for each joined row, the limited query would claim more than its limit.
CLAIM_DUE = """
WITH due AS MATERIALIZED (
    SELECT id FROM applications_delivery
    WHERE webhook_id = %(webhook)s AND state = 'Pending' AND next_try <= %(now)s
    ORDER BY next_try LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)
UPDATE applications_delivery d SET tries = d.tries + 1, next_try = %(lease)s
FROM due, applications_event e, applications_webhook w
WHERE d.id = due.id AND d.state = 'Pending' AND e.id = d.event_id AND w.id = d.webhook_id AND w.is_enabled
RETURNING d.id, d.tries, w.id, w.application_id, w.url, w.failing_since IS NOT NULL,
    ARRAY(SELECT s.ciphertext FROM applications_webhooksecret s
          WHERE s.webhook_id = w.id AND (s.expires IS NULL OR s.expires > %(now)s) ORDER BY s.id DESC),
    e.event_id, e.type, e.timestamp, e.store_id, e.application_id, e.data
"""
# With the person whose limits hold for the application: of an unconfirmed account, the one who made it.
WITH_DUE = f"""
SELECT w.id, w.application_id, (
    SELECT coalesce(CASE WHEN person.email_confirmed IS NULL THEN person.counted_on_id END, person.id, application.id)
    FROM applications_application application LEFT JOIN accounts_user person ON person.id = application.user_id
    WHERE application.id = w.application_id
), due.count
FROM applications_webhook w CROSS JOIN LATERAL (
    SELECT count(*) FROM (
        SELECT FROM applications_delivery d
        WHERE d.webhook_id = w.id AND d.state = 'Pending' AND d.next_try <= coalesce(%(now)s, statement_timestamp())
        LIMIT {MAX_AT_ONCE}
    ) found
) due
WHERE w.is_enabled AND due.count > 0
"""  # noqa: S608 - a constant
_ADD_ATTEMPT = """
    INSERT INTO applications_deliveryattempt (delivery_id, timestamp, milliseconds, status_code, error, body)
    SELECT id, %(started)s, %(milliseconds)s, %(status)s, %(error)s, %(body)s
"""
SUCCEEDED = f"""
WITH delivered AS (
    UPDATE applications_delivery SET state = 'Delivered', next_try = NULL
    WHERE id = %(delivery)s RETURNING id
), healthy AS (
    UPDATE applications_webhook SET failing_since = NULL, warned = NULL
    WHERE id = %(webhook)s AND failing_since IS NOT NULL
)
{_ADD_ATTEMPT} FROM delivered
"""  # noqa: S608 - made of constants
# A resend in between started a new schedule, which stays.
FAILED = f"""
WITH held AS MATERIALIZED (
    SELECT id FROM applications_delivery WHERE id = %(delivery)s FOR NO KEY UPDATE
), attempt AS ({_ADD_ATTEMPT} FROM held), failing AS (
    UPDATE applications_webhook SET failing_since = %(started)s
    WHERE id = %(webhook)s AND failing_since IS NULL
)
UPDATE applications_delivery d SET state = %(state)s, next_try = %(next_try)s FROM held
WHERE d.id = held.id AND d.state = 'Pending' AND d.tries = %(tries)s
"""  # noqa: S608 - made of constants


def next_try(*, tries: int, now: datetime, retry_after: timedelta | None = None) -> datetime | None:
    """The time of the next attempt after `tries` failed; None after the last one.

    A later Retry-After of the endpoint is respected, up to a day.
    """
    if tries >= MAX_TRIES:
        return None
    delay = DELAYS[tries - 1] * _random.uniform(1 - JITTER, 1 + JITTER)
    if retry_after is not None:
        delay = max(delay, min(retry_after, MAX_WAIT))
    return now + delay


def parse_retry_after(value: str | None, *, now: datetime) -> timedelta | None:
    """Seconds or an HTTP date; None for anything else."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), int(MAX_WAIT.total_seconds())))
    try:
        wait = parsedate_to_datetime(text) - now
    except (TypeError, ValueError, OverflowError):
        return None
    return max(wait, timedelta(0))


@dataclass(frozen=True, slots=True)
class EndpointResponse:
    """The response's status and start of its body, or the `error` that prevented it."""

    milliseconds: int
    status: int | None = None
    body: str = ""
    error: str = ""
    retry_after: str | None = None

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300 and not self.error


@dataclass(frozen=True, slots=True)
class ClaimedDelivery:
    """A delivery that this worker holds until its lease ends."""

    delivery_id: int
    tries: int
    webhook_id: UUID
    application_id: UUID
    url: str
    is_failing: bool
    ciphertexts: Sequence[bytes]
    event_id: UUID
    body: bytes


def claim_due_deliveries(*, webhook_id: UUID, limit: int, now: datetime) -> list[ClaimedDelivery]:
    """Claims due deliveries, the longest waiting first; never the same for two workers."""
    parameters = {"webhook": webhook_id, "limit": limit, "now": now, "lease": now + LEASE}
    return [_claimed_delivery(row) for row in fetch_rows(CLAIM_DUE, parameters)]


class DueWebhook(NamedTuple):
    """A webhook, its application, that one's person, and how many deliveries are due, up to MAX_AT_ONCE."""

    id: UUID
    application_id: UUID
    person_id: UUID
    due_count: int


def webhooks_with_due_deliveries(*, now: datetime | None = None) -> list[DueWebhook]:
    """At present or at `now`. One probe of an index for each webhook, however many deliveries wait."""
    return [DueWebhook(*row) for row in fetch_rows(WITH_DUE, {"now": now})]


def record_attempt(
    *, claimed: ClaimedDelivery, response: EndpointResponse, started: datetime, now: datetime
) -> None:
    """Records an attempt and the time of the next one; disables an endpoint that answered 410 Gone."""
    parameters = {
        "delivery": claimed.delivery_id,
        "webhook": claimed.webhook_id,
        "tries": claimed.tries,
        "started": started,
        "milliseconds": response.milliseconds,
        "status": response.status,
        "error": response.error,
        "body": response.body,
    }
    if response.is_success:
        execute(SUCCEEDED, parameters)
    elif response.status == GONE:
        _record_gone(claimed, parameters)
    else:
        wait = parse_retry_after(response.retry_after, now=now)
        following = _next_state(next_try(tries=claimed.tries, now=now, retry_after=wait))
        execute(FAILED, {**parameters, **following})


@transaction.atomic
def _record_gone(claimed: ClaimedDelivery, parameters: dict[str, Any]) -> None:
    # Locks the webhook first, in the same order as everywhere else.
    webhook = Webhook.objects.get(pk=claimed.webhook_id)
    if webhook.deleted is None:
        disable_webhook(webhook=webhook, reason="The endpoint responded with 410 Gone.")
    execute(FAILED, {**parameters, **_next_state(None)})


def _next_state(moment: datetime | None) -> dict[str, Any]:
    return {"state": DeliveryState.PENDING if moment else DeliveryState.FAILED, "next_try": moment}


def _claimed_delivery(row: Sequence[Any]) -> ClaimedDelivery:
    """The last columns of CLAIM_DUE are the event, which begins with its ID and becomes the body."""
    values = [*row[:8], orjson.dumps(envelope(*row[7:]))]
    return ClaimedDelivery(*values)
