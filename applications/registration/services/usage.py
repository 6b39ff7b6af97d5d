"""Counts API calls by application and day, collected in memory and written in batches.

A killed process loses the counts since its last `flush_usage`; a statement whose commit could not be confirmed is
sent again. So the counts are approximate and not meant for billing.
"""

import threading
import time
from collections import Counter
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import connection

from applications.registration.services.milestones import CALLED, READ, record_milestone

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


# How often each thing happened, by application and day. Without the calls of pages, `own_calls` and `own_successes` are
# for the first steps.
Counts = dict[tuple[UUID, int], Counter[str]]
_lock = threading.Lock()
_counts: Counts = {}


def count_call(*, application_id: UUID, status: int, on_page: bool = False) -> None:
    """Counts a response with this HTTP status in memory; `on_page` for what a page did in the application's name."""
    key = (application_id, int(time.time() // SECONDS_OF_DAY))
    with _lock:
        counted = _counts.setdefault(key, Counter())
        counted["calls"] += 1
        if not on_page:
            counted["own_calls"] += 1
            counted["own_successes"] += status < 400
        if status >= 400:
            counted["server_errors" if status >= 500 else "client_errors"] += 1


def flush_usage() -> int:
    """Writes the counts and returns the number of calls; keeps them if the database is unavailable."""
    with _lock:
        counts = dict(_counts)
        _counts.clear()
    if not counts:
        return 0
    columns: list[list[Any]] = [
        [application_id for application_id, _ in counts],
        [datetime.fromtimestamp(day * SECONDS_OF_DAY, UTC).date() for _, day in counts],
        *(
            [counted[name] for counted in counts.values()]
            for name in ("calls", "client_errors", "server_errors")
        ),
    ]
    try:
        _record_first_steps(counts)
        with connection.cursor() as cursor:
            cursor.execute(ADD, columns)
    except BaseException:
        _put_back(counts)
        raise
    return sum(counted["calls"] for counted in counts.values())


def _put_back(counts: Counts) -> None:
    with _lock:
        for key, counted in counts.items():
            _counts.setdefault(key, Counter()).update(counted)


def _record_first_steps(counts: Counts) -> None:
    """Called before the counts are written: repeated, it changes nothing."""
    for (application_id, _), counted in counts.items():
        for name, count in ((CALLED, counted["own_calls"]), (READ, counted["own_successes"])):
            if count:
                record_milestone(application_id=application_id, name=name)
