"""When a request is sent again, and how long to wait before."""

from __future__ import annotations

import random
import re
import ssl
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

import httpx

from store_fulfillment._calls import Call

BUSY = 429
AWAY = frozenset({502, 503, 504})
BROKEN = AWAY | {500}
SECONDS = re.compile(r"\s*[0-9]{1,9}\s*\Z")
LIMIT = re.compile(r";\s*(r|t)=([0-9]{1,9})")


@dataclass(frozen=True)
class Retries:
    """`most` more tries after the first, and for `outage` seconds as many as fit while the service is away.

    A wait of more than `longest_wait` seconds is left to the caller.
    """

    most: int = 4
    first_wait: float = 0.5
    longest_wait: float = 60.0
    outage: float = 45.0

    def wait_after(
        self,
        call: Call,
        tries: int,
        outcome: httpx.Response | httpx.RequestError,
        *,
        seconds: float,
    ) -> float | None:
        """Seconds to wait before the next try; None if there is to be none. `seconds` have passed since the first."""
        lasts = isinstance(outcome, httpx.RequestError) or outcome.status_code in AWAY
        is_over = tries > self.most and not (lasts and self.most and seconds < self.outage)
        if is_over or not is_worth_another(call, outcome):
            return None
        # Half of it is random, so that clients do not retry at the same moment.
        usual = min(self.first_wait * 2.0 ** min(tries - 1, 20), 8.0) * random.uniform(0.5, 1.0)  # noqa: S311
        stated = stated_wait(outcome.headers) if isinstance(outcome, httpx.Response) else None
        if stated is None:
            return usual
        return None if stated > self.longest_wait else stated + usual * 0.5


def is_worth_another(call: Call, outcome: httpx.Response | httpx.RequestError) -> bool:
    if not isinstance(outcome, httpx.Response):
        if is_the_same_again(outcome):
            return False
        # Without a connection nothing was sent.
        return call.is_repeatable or isinstance(outcome, (httpx.ConnectError, httpx.ConnectTimeout))
    if outcome.status_code == BUSY:
        return True
    if outcome.status_code in BROKEN:
        return call.is_repeatable
    # The earlier request is still being processed.
    return outcome.status_code == 409 and call.takes_key and "Retry-After" in outcome.headers


def is_the_same_again(error: httpx.RequestError) -> bool:
    """The address, the headers or the certificate are at fault, which no waiting changes."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(
            cause, (httpx.LocalProtocolError, httpx.UnsupportedProtocol, ssl.SSLCertVerificationError)
        ):
            return True
        # Any other context may be an error that the caller handles.
        is_inner = type(cause).__module__.startswith("httpcore")
        cause = cause.__cause__ or (cause.__context__ if is_inner else None)
    return False


def stated_wait(headers: httpx.Headers) -> float | None:
    """The wait that the service requests in `Retry-After` or, with no requests left, in `RateLimit`."""
    if (text := headers.get("Retry-After")) is not None:
        if SECONDS.match(text):
            return float(text)
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
        except (TypeError, ValueError, OverflowError):
            return None
    limit = {name: int(value) for name, value in LIMIT.findall(headers.get("RateLimit", ""))}
    return float(limit["t"]) if limit.get("r") == 0 and "t" in limit else None
