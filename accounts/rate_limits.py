"""Rate limits: the number of requests of a bucket in a window that begins with its first request.

Every request is counted in PostgreSQL before it is served, by one upsert of an unlogged row, so that limits are exact
for any number of processes and machines. Times are the database's. Fixed windows instead of a leaking bucket: `r`
left and `t` seconds until the reset then describe the state completely, and a client that waits for `t` is served.
"""

import math
import time
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.utils.translation import gettext as _

from fulfillment.core.db.prepared import execute, fetch_row
from fulfillment.core.errors import TooManyRequests
from fulfillment.core.http.addresses import rate_limit_key_for_ip
from fulfillment.core.observability.instruments import count_refusal

MINUTE, QUARTER_OF_AN_HOUR, HOUR, DAY = 60, 900, 3600, 86_400
SUBSCRIPTION, ADDRESS, TOKEN_FAILURES = "subscription", "address", "token-failures"
# Pages of the API reference have their own limit, separate from API calls.
REFERENCE_PAGES = "reference"
# Waiting for the row may bring requests into another order than their clocks, and the clock itself may be set
# back: a new window begins only when a whole window has passed.
SAME_WINDOW = """excluded.started BETWEEN stored.started - interval '{seconds} s'
                                AND stored.started + interval '{seconds} s'"""
# `{source}` yields one row with the column `bucket`; returns how many it had and the seconds the window has left.
_COUNT = f"""
INSERT INTO accounts_ratewindow AS stored (bucket, started, used)
SELECT bucket, statement_timestamp(), 1 FROM {{source}} WHERE bucket IS NOT NULL
ON CONFLICT (bucket) DO UPDATE SET
    used = CASE WHEN {SAME_WINDOW} THEN stored.used + 1 ELSE 1 END,
    started = CASE WHEN {SAME_WINDOW} THEN stored.started ELSE excluded.started END
RETURNING stored.used,
    {{seconds}} + extract(epoch FROM stored.started - statement_timestamp())::float8 AS resets_in
"""  # noqa: S608 - constants of this module
COUNT_ROW = _COUNT.replace("{seconds}", str(MINUTE))
COUNT_ONE = {
    seconds: _COUNT.format(source="(SELECT %s::text AS bucket) requested", seconds=seconds)
    for seconds in (MINUTE, QUARTER_OF_AN_HOUR, HOUR, DAY)
}
GIVE_BACK = "UPDATE accounts_ratewindow SET used = used - 1 WHERE bucket = %s AND used > 0"
FORGET = "DELETE FROM accounts_ratewindow WHERE bucket = %s"
MAX_REMEMBERED = 10_000

_over: dict[str, tuple[float, "RateLimitStatus"]] = {}


@dataclass(frozen=True, slots=True)
class RateLimitStatus:
    """The state of a bucket after the current request was counted."""

    policy: str
    quota: int
    used: int
    resets_in: float
    window: int = MINUTE

    @property
    def remaining(self) -> int:
        return max(0, self.quota - self.used)

    @property
    def is_exceeded(self) -> bool:
        return self.used > self.quota

    @property
    def seconds_until_reset(self) -> int:
        """Whole seconds until the full quota is available again."""
        return max(1, math.ceil(self.resets_in))

    def headers(self) -> dict[str, str]:
        """RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-11)."""
        return {
            "RateLimit-Policy": f'"{self.policy}";q={self.quota};w={self.window}',
            "RateLimit": f'"{self.policy}";r={self.remaining};t={self.seconds_until_reset}',
        }


def count_request(*, policy: str, bucket: str, quota: int, window: int = MINUTE) -> RateLimitStatus:
    """Counts a request of `bucket` and returns the new state."""
    row = fetch_row(COUNT_ONE[window], (bucket,))
    if row is None:
        raise AssertionError("an upsert returns its row")
    used, resets_in = row
    limit_status = RateLimitStatus(policy, quota, used, resets_in, window)
    if limit_status.is_exceeded:
        remember_refusal(bucket, limit_status)
    return limit_status


def address_bucket(policy: str, request: HttpRequest) -> str:
    return f"{policy}:{rate_limit_key_for_ip(request.META.get('REMOTE_ADDR', ''))}"


def enforce_limit(policy: str, key: object, *, quota: int) -> None:
    """Counts a request of `key` in a minute. Raises TooManyRequests."""
    bucket = f"{policy}:{key}"
    limit_status = cached_rejection(bucket) or count_request(policy=policy, bucket=bucket, quota=quota)
    if limit_status.is_exceeded:
        raise refusal(limit_status)


def refund(bucket: str) -> None:
    """Uncounts a request that turned out not to be limited."""
    execute(GIVE_BACK, (bucket,))


def forget(bucket: str) -> None:
    """Begins a new window."""
    execute(FORGET, (bucket,))
    _over.pop(bucket, None)


def cached_rejection(bucket: str) -> RateLimitStatus | None:
    """The state of a bucket that this process saw exceed its limit in the current window, without a query."""
    rejection = _over.get(bucket)
    if rejection is None:
        return None
    until, limit_status = rejection
    resets_in = until - time.monotonic()
    if resets_in <= 0:
        _over.pop(bucket, None)
        return None
    return replace(limit_status, resets_in=resets_in)


def remember_refusal(bucket: str, limit_status: RateLimitStatus) -> None:
    """Stores the state for `cached_rejection` until the window ends."""
    if len(_over) >= MAX_REMEMBERED:
        _over.clear()
    _over[bucket] = (time.monotonic() + limit_status.resets_in, limit_status)


def refusal(limit_status: RateLimitStatus) -> TooManyRequests:
    count_refusal(limit_status.policy)
    wait = limit_status.seconds_until_reset
    message = _("Rate limit is exceeded. Try again in %(wait)s seconds.") % {"wait": wait}
    members = {"statusCode": 429, "message": message, "violated-policies": [limit_status.policy]}
    return TooManyRequests(message, retry_after=wait, members=members)
