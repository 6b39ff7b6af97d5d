"""The retry schedule of deliveries: 10 attempts over three days, with jitter."""

import random
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

# The delay after the first, second, … failed attempt.
DELAYS = tuple(
    timedelta(seconds=seconds)
    for seconds in (5, 300, 1800, 7200, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)
MAX_TRIES = len(DELAYS) + 1
JITTER = 0.1
MAX_WAIT = timedelta(hours=24)

_random = random.SystemRandom()


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
