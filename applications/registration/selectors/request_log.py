"""Reads the call log of an application. Access to the application must be checked before."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Sum
from django.utils.translation import gettext as _

from applications.registration.models import Application, DailyUsage, LoggedRequest
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import NotFound
from fulfillment.core.text import parse_number, timestamp

A_PAGE = 25
DEFAULT_TAKE, MAX_TAKE = 100, 1000
STATUS = re.compile(r"[1-5]\d\d\Z", re.ASCII)
PLACE = re.compile(r"(\d{1,16})-(\d{1,18})\Z", re.ASCII)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The number of calls behind the figures, so that their cost does not grow with the log.
MAX_MEASURED = 20_000
BY_OPERATION = """
SELECT method, path, count(*), count(*) FILTER (WHERE status BETWEEN 400 AND 499),
       count(*) FILTER (WHERE status >= 500),
       percentile_disc(0.5) WITHIN GROUP (ORDER BY microseconds) / 1000::float8,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY microseconds) / 1000::float8
FROM (
    SELECT method, path, status, microseconds FROM applications_loggedrequest
    WHERE application_id = %s ORDER BY time DESC, id DESC LIMIT %s
) AS latest
GROUP BY method, path ORDER BY count(*) DESC, path, method
"""
CLASSES = {"2xx": (200, 299), "3xx": (300, 399), "4xx": (400, 499), "5xx": (500, 599)}


@dataclass(frozen=True, slots=True)
class CallFilter:
    """`status` is a class such as 4xx, or a number; `before` where the page before ended."""

    status: str = ""
    method: str = ""
    path: str = ""
    code: str = ""
    since: datetime | None = None
    until: datetime | None = None
    request_id: UUID | None = None
    before: tuple[datetime, int] | None = None


@dataclass(frozen=True, slots=True)
class OperationFigures:
    method: str
    path: str
    calls: int
    refused: int
    failed: int
    median: float
    slow: float

    @property
    def error_share(self) -> float:
        return 100 * (self.refused + self.failed) / self.calls


def logged_requests(application: Application, filters: CallFilter, take: int = A_PAGE) -> list[LoggedRequest]:
    """The newest first: one page, and one more where there are older ones."""
    requests = LoggedRequest.objects.filter(application=application).order_by("-time", "-id").defer("headers")
    return list(_filter_requests(requests, filters)[: take + 1])


def is_status(text: str) -> bool:
    """Whether the text is a status class such as 4xx, or a number."""
    return text in CLASSES or STATUS.match(text) is not None


def place_text(row: LoggedRequest) -> str:
    """The cursor of a page that ends with this row; `parse_place` parses it."""
    return f"{(row.time - EPOCH) // timedelta(microseconds=1)}-{row.pk}"


def parse_place(text: str) -> tuple[datetime, int] | None:
    match = PLACE.match(text)
    return (EPOCH + timedelta(microseconds=int(match[1])), int(match[2])) if match else None


def request_record(row: LoggedRequest) -> dict[str, Any]:
    """The API's record, without names of users."""
    problem = row.problem or {}
    return {
        "RequestID": row.request_id.hex,
        "Timestamp": timestamp(row.time),
        "Method": row.method,
        "Path": row.path,
        "Status": row.status,
        "Code": row.code or None,
        "Pointer": row.pointer or None,
        "Detail": problem.get("detail"),
        "Milliseconds": row.milliseconds,
        "IsForUser": row.user_id is not None,
    }


def find_logged_request(application: Application, request_id: str) -> LoggedRequest:
    number = parse_number(request_id) or 0
    logged = LoggedRequest.objects.filter(application=application, pk=number).first()
    if logged is None:
        raise NotFound(_("This call is not in the log. Calls are kept for a few days only."))
    return logged


def list_operations(application: Application) -> list[OperationFigures]:
    """Figures of the latest calls by operation: count, errors and duration in milliseconds."""
    rows = fetch_rows(BY_OPERATION, (application.pk, MAX_MEASURED), prepare=False)
    return [OperationFigures(*row) for row in rows]


def _filter_requests(requests: QuerySet[LoggedRequest], filters: CallFilter) -> QuerySet[LoggedRequest]:
    if filters.status in CLASSES:
        least, most = CLASSES[filters.status]
        # Repeated, because the index of refusals has this condition.
        requests = requests.filter(status__gte=least, status__lte=most)
        requests = requests.filter(status__gte=400) if least >= 400 else requests
    elif filters.status:
        requests = requests.filter(status=int(filters.status))
        requests = requests.filter(status__gte=400) if int(filters.status) >= 400 else requests
    if filters.code:
        # Only refusals have one: of all calls, that walk would take seconds.
        requests = requests.filter(status__gte=400)
    exact: dict[str, Any] = {"method": filters.method, "path": filters.path, "code": filters.code}
    requests = requests.filter(**{name: value for name, value in exact.items() if value})
    if filters.request_id:
        requests = requests.filter(request_id=filters.request_id)
    if filters.since:
        requests = requests.filter(time__gte=filters.since)
    if filters.until:
        requests = requests.filter(time__lte=filters.until)
    if filters.before:
        time, number = filters.before
        requests = requests.filter(time__lte=time).exclude(time=time, id__gte=number)
    return requests


DayTotal = tuple[date, int, int, int]


def daily_usage(*, application_ids: Collection[UUID] | None = None, days: int = 30) -> list[DailyUsage]:
    """The last `days` days (UTC, today included), oldest first; None means all applications.

    Days without a call have no row; calls of the last few seconds may be missing.
    """
    first = today() - timedelta(days=days - 1)
    rows = DailyUsage.objects.filter(day__gte=first).order_by("day", "application_id")
    if application_ids is not None:
        rows = rows.filter(application_id__in=application_ids)
    return list(rows)


def today() -> date:
    """The current day of the counts (UTC)."""
    return datetime.now(UTC).date()


def daily_totals(*, days: int = 30) -> list[DayTotal]:
    """Day, calls, client errors and server errors of all applications together, one row a day (UTC)."""
    rows = (
        DailyUsage.objects.filter(day__gte=today() - timedelta(days=days - 1))
        .values_list("day")
        .order_by("day")
    )
    return list(rows.annotate(Sum("calls"), Sum("client_errors"), Sum("server_errors")))
