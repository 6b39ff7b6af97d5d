"""Counts API calls for each store and day: in memory at first, then many of them in one statement.

A call counts for the store that its address names, if it was answered with anything but "not found": a caller can
invent any number of stores, and none of them is remembered. A process that is killed loses what it counted since its
last `flush_usage`.
"""

import threading
import time
from collections import Counter
from datetime import UTC, datetime

from django.db import connection

SECONDS_OF_DAY = 86_400
# Refused because of the rate limit, or because there is no such store.
UNCOUNTED = frozenset({404, 429})
# In key order, so that two processes do not deadlock.
ADD = """
INSERT INTO stores_storeusage AS usage (store_id, day, calls)
SELECT store.id, counted.day, counted.calls FROM unnest(%s::text[], %s::date[], %s::bigint[])
    AS counted (external_id, day, calls)
JOIN stores_store store ON store.external_id = counted.external_id
ORDER BY store.id, counted.day
ON CONFLICT (store_id, day) DO UPDATE SET calls = usage.calls + excluded.calls
"""

_lock = threading.Lock()
_counts: Counter[tuple[str, int]] = Counter()


def count_store_call(*, store_id: str, status: int) -> None:
    """Counts a response in memory."""
    if status in UNCOUNTED:
        return
    with _lock:
        _counts[store_id, int(time.time() // SECONDS_OF_DAY)] += 1


def flush_store_usage() -> int:
    """Writes the counts and returns the number of calls; keeps them if the database is unavailable."""
    with _lock:
        counts = dict(_counts)
        _counts.clear()
    if not counts:
        return 0
    days = [datetime.fromtimestamp(day * SECONDS_OF_DAY, UTC).date() for _, day in counts]
    try:
        with connection.cursor() as cursor:
            cursor.execute(ADD, [[store for store, _ in counts], days, list(counts.values())])
    except BaseException:
        with _lock:
            _counts.update(counts)
        raise
    return sum(counts.values())
