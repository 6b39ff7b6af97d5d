"""Counts API calls by application and day, collected in memory and written in batches, and records first steps.

A killed process loses the counts since its last `flush_usage`; a statement whose commit could not be confirmed is
sent again. So the counts are approximate and not meant for billing.
"""

import threading
import time
from datetime import UTC, datetime
from uuid import UUID

from django.db import connection

from fulfillment.core.caches import register_cache
from fulfillment.core.db.prepared import execute
from printing.caches import WeightedCache

SECONDS_OF_DAY = 86_400
# In key order, so that two processes do not deadlock.
ADD = """
INSERT INTO applications_dailyusage AS usage (application_id, day, calls, client_errors, server_errors)
SELECT counted.* FROM unnest(%s::uuid[], %s::date[], %s::bigint[], %s::bigint[], %s::bigint[])
    AS counted (application_id, day, calls, client_errors, server_errors)
JOIN applications_application application ON application.id = counted.application_id
ORDER BY counted.application_id, counted.day
ON CONFLICT (application_id, day) DO UPDATE SET
    calls = usage.calls + excluded.calls,
    client_errors = usage.client_errors + excluded.client_errors,
    server_errors = usage.server_errors + excluded.server_errors
"""

_lock = threading.Lock()
_counts: dict[tuple[UUID, int], list[int]] = {}
register_cache(_counts)


def count_call(*, application_id: UUID, status: int, on_page: bool = False) -> None:
    """Counts a response with this HTTP status in memory; `on_page` for what a page did in the application's name."""
    key = (application_id, int(time.time() // SECONDS_OF_DAY))
    with _lock:
        counted = _counts.get(key)
        if counted is None:
            counted = _counts[key] = [0] * 5
        counted[0] += 1
        if not on_page:
            counted[3] += 1
            counted[4] += status < 400
        if status >= 500:
            counted[2] += 1
        elif status >= 400:
            counted[1] += 1


def flush_usage() -> int:
    """Writes the counts and returns the number of calls; keeps them if the database is unavailable."""
    with _lock:
        taken = dict(_counts)
        _counts.clear()
    if not taken:
        return 0
    days = [datetime.fromtimestamp(day * SECONDS_OF_DAY, UTC).date() for _, day in taken]
    columns = [list(column) for column in zip(*taken.values(), strict=True)][:3]
    try:
        _record_first_steps(taken)
        with connection.cursor() as cursor:
            cursor.execute(ADD, [[application_id for application_id, _ in taken], days, *columns])
    except BaseException:
        _put_back(taken)
        raise
    return sum(columns[0])


def _put_back(taken: dict[tuple[UUID, int], list[int]]) -> None:
    with _lock:
        for key, counted in taken.items():
            since = _counts.get(key, [0] * 5)
            _counts[key] = [before + after for before, after in zip(counted, since, strict=True)]


def _record_first_steps(taken: dict[tuple[UUID, int], list[int]]) -> None:
    """Before the counts are written: repeated, it changes nothing."""
    for (application_id, _), (*_, called, succeeded) in taken.items():
        for name, count in ((CALLED, called), (READ, succeeded)):
            if count:
                record_milestone(application_id=application_id, name=name)


CALLED = "called"
READ = "read"
PROOF = "proof"
EVENTS = "events"
TEST_ORDER = "test order"
# The application may have been deleted.
NOTE = """
INSERT INTO applications_milestone (application_id, name, reached)
SELECT id, %s, now() FROM applications_application WHERE id = %s ON CONFLICT DO NOTHING
"""
# Milestones already written, so that a process queries the database once for each.
_known: WeightedCache[tuple[UUID, str], bool] = WeightedCache(capacity=10_000, weight=lambda _: 1)
register_cache(_known)


def record_milestone(*, application_id: UUID | None, name: str) -> None:
    if application_id is None or _known.get((application_id, name)):
        return
    execute(NOTE, (name, application_id))
    _known.put((application_id, name), True)


def record_milestone_with_effect(*, application_id: UUID, name: str) -> None:
    """In the transaction of what reached it: if that is rolled back, so is the milestone."""
    execute(NOTE, (name, application_id))
