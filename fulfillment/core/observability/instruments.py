"""Prometheus instruments; active only if METRICS_TOKEN or METRICS_NETWORKS opens /metrics.

Web processes share the figures through files in the folder of PROMETHEUS_MULTIPROC_DIR, which the settings name
before this is imported: any of them answers for all. Why PostgreSQL refused something is noted for /readyz, too.
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from prometheus_client import Counter, Histogram

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

requests = Counter("fulfillment_requests", "Responses, by route.", ["route", "method", "caller", "status"])
request_seconds = Histogram(
    "fulfillment_request_seconds", "Response time, by route.", ["route", "method", "caller"], buckets=SECONDS
)
refusals = Counter("fulfillment_rate_limit_refusals", "Requests refused by a rate limit.", ["policy"])
database_refusals = Counter(
    "fulfillment_database_refusals", "What the database refused, by reason.", ["reason"]
)
render_seconds = Histogram(
    "fulfillment_render_seconds", "Time to typeset, by what was made.", ["kind"], buckets=SECONDS
)

stage_seconds = Histogram(
    "fulfillment_proof_stage_seconds",
    "Time of one stage of a proof or print file.",
    ["stage"],
    buckets=SECONDS,
)
# https://www.postgresql.org/docs/current/errcodes-appendix.html
DISK_FULL = "53100"
# A refused connection has no SQLSTATE.
NO_CONNECTION_LEFT = re.compile("too many (clients|connections)|connection slots")
ROOM_SECONDS = 10.0


def measure_request(*, route: str, method: str, caller: str, status: int, seconds: float) -> None:
    """`route` is a pattern of the service, never an address chosen by a caller: each value adds a time series."""
    if settings.METRICS_OPEN:
        method_label = method if method in METHODS else "other"
        _find_child(requests, route, method_label, caller, str(status)).inc()
        _find_child(request_seconds, route, method_label, caller).observe(seconds)


def count_refusal(policy: str) -> None:
    if settings.METRICS_OPEN:
        _find_child(refusals, policy).inc()


def measure_stage(stage: str, seconds: float) -> None:
    if settings.METRICS_OPEN:
        _find_child(stage_seconds, stage).observe(seconds)


@contextmanager
def measured_rendering(kind: str) -> Iterator[None]:
    if not settings.METRICS_OPEN:
        yield
        return
    started = time.perf_counter()
    try:
        yield
    finally:
        _find_child(render_seconds, kind).observe(time.perf_counter() - started)


@cache
def _find_child(metric: Any, *labels: str) -> Any:
    return metric.labels(*labels)


@dataclass(frozen=True, slots=True)
class Gauges:
    """Gauges that /metrics reads from the database: rows of (name, label, value).

    `texts` has for each name its help text and the name of its label, or "" for none.
    """

    statement: str
    texts: Mapping[str, tuple[str, str]]


_full_at: float | None = None


def note_refusal(error: BaseException) -> str:
    """Counts why PostgreSQL refused, and returns it: `full`, `connections` or `other`."""
    global _full_at
    reason = "connections" if NO_CONNECTION_LEFT.search(str(error)) else "other"
    if getattr(error.__cause__, "sqlstate", None) == DISK_FULL:
        reason, _full_at = "full", time.monotonic()
    if settings.METRICS_OPEN:
        _find_child(database_refusals, reason).inc()
    return reason


def had_no_room() -> bool:
    """Whether a write of this process was refused in the last seconds, because the database's disk is full."""
    return _full_at is not None and time.monotonic() - _full_at < ROOM_SECONDS
