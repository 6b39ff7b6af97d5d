"""When each caller last wrote, so that a replica serves its reads only once it has what the caller wrote.

The marks are unlogged rows beside the rate limits. A crash of PostgreSQL loses them, and then only the greatest lag
bounds what a caller may miss of its own.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.core.exceptions import MiddlewareNotUsed
from django.db import Error
from django.http import HttpRequest, HttpResponse

from fulfillment.core.db.prepared import execute
from fulfillment.core.db.replica import the_replica

logger = logging.getLogger("fulfillment.database")

READS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
# What is changed in the console concerns every caller.
EVERYONE = "written:"
# Seconds of the primary's clock; 0 without a mark. `{caller}` is a column or a value.
LAST_WRITE = f"""
SELECT coalesce(extract(epoch FROM max(started)), 0)::float8 FROM accounts_ratewindow
WHERE bucket IN ('{EVERYONE}', '{EVERYONE}' || {{caller}})
"""  # noqa: S608 - constants of this module
MARK = """
INSERT INTO accounts_ratewindow AS stored (bucket, started, used) VALUES (%s, clock_timestamp(), 1)
ON CONFLICT (bucket) DO UPDATE SET started = greatest(stored.started, excluded.started)
"""


class OwnWrites:
    """Marks a caller after each request that may have written, before the response is sent."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if the_replica() is None:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.method in READS or 400 <= response.status_code < 500:
            return response
        writer = _writer(request)
        if writer is not None:
            try:
                execute(MARK, (writer,))
            except Error:
                # The write has succeeded, so the response does not depend on the mark.
                logger.warning(
                    "A write could not be marked; reads of it may come from the replica too early."
                )
        return response


def _writer(request: HttpRequest) -> str | None:
    """The bucket of the API caller or of the signed-in user; None for anonymous requests."""
    caller: Any = getattr(request, "auth", None)
    if caller is not None:
        return f"{EVERYONE}{caller.user_id or caller.application_id}"
    user: Any = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return None
    return EVERYONE if request.path_info.startswith("/admin/") and user.is_staff else f"{EVERYONE}{user.pk}"
