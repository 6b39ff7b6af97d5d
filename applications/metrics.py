"""Metrics of this app, and the counting of API calls."""

import time
from typing import Any

from django.http import HttpRequest, HttpResponse

from accounts.callers import Caller
from applications.registration.services.notices import QUOTA_SHARE, flush_quotas, note_quota
from applications.registration.services.request_log import flush_request_log, is_enabled, note_request
from applications.registration.services.usage import count_call
from applications.registration.services.usage import flush_usage as flush_counts
from applications.webhooks.selectors.deliveries import alive_workers
from fulfillment.core.observability.instruments import Gauges

# Only the newest attempts, so that the query's cost does not grow.
DELIVERIES = """
SELECT 'deliveries_waiting', '', count(*)::float8 FROM applications_delivery WHERE state = 'Pending'
UNION ALL
SELECT 'deliveries_oldest_seconds', '', coalesce(max(extract(epoch FROM now() - next_try)), 0)::float8
FROM applications_delivery WHERE state = 'Pending' AND next_try <= now()
UNION ALL
SELECT 'deliveries_failed', '', count(*)::float8 FROM applications_delivery WHERE state = 'Failed'
UNION ALL
SELECT 'delivery_attempts_5m', CASE WHEN status_code BETWEEN 200 AND 299 THEN 'delivered' ELSE 'refused' END,
       count(*)::float8
FROM (SELECT status_code, timestamp FROM applications_deliveryattempt ORDER BY id DESC LIMIT 10000) newest
WHERE timestamp > now() - interval '5 minutes' GROUP BY 2
"""
GAUGES = Gauges(
    DELIVERIES,
    {
        "deliveries_waiting": ("Webhook deliveries to be tried or tried again.", ""),
        "deliveries_oldest_seconds": ("How long the oldest of them has been due; 0 when none is.", ""),
        "deliveries_failed": ("Webhook deliveries given up.", ""),
        "delivery_attempts_5m": ("Attempts of the last 5 minutes, of the newest 10,000.", "result"),
    },
)


# What /readyz asks.
PROBES = {"worker": lambda: "" if alive_workers() else "no worker has been heard of for 30 seconds"}


def count_request(caller: Caller, status: int) -> None:
    if caller.application_id is not None:
        count_call(application_id=caller.application_id, status=status)


def record_request(
    request: HttpRequest, response: HttpResponse, caller: Caller, seconds: float, request_id: str
) -> None:
    """Adds the call to the log of the application."""
    limit_status = getattr(request, "rate_limit_status", None)
    if limit_status is not None and limit_status.used >= QUOTA_SHARE * limit_status.quota:
        note_quota(
            application_id=caller.application_id,
            user_id=caller.user_id,
            used=limit_status.used,
            quota=limit_status.quota,
            day=int(time.time() // 86_400),
        )
    match = request.resolver_match
    if caller.application_id is None or match is None or not is_enabled():
        return
    refused = response.status_code >= 400 and not response.streaming
    headers: Any = response.headers
    note_request(
        application_id=caller.application_id,
        user_id=caller.user_id,
        method=request.method or "",
        route=match.route,
        status=response.status_code,
        seconds=seconds,
        request_id=request_id,
        request_meta=request.META,
        response_headers=headers,
        problem=response.content if refused else None,
    )


def flush_usage() -> None:
    """Writes the counts first, so that a failing log does not delay them."""
    try:
        flush_counts()
    finally:
        try:
            flush_request_log()
        finally:
            flush_quotas()
