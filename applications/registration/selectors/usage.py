from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

from django.db.models import Sum

from applications.registration.models import DailyUsage

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
