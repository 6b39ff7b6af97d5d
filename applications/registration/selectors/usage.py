from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from time import monotonic
from uuid import UUID

from django.db.models import Sum

from applications.registration.models import DailyUsage
from fulfillment.core.caches import register_cache
from printing.caches import WeightedCache

DayTotal = tuple[date, int, int, int]

KEPT_SECONDS = 300
# By their first day, the day after their last, and the time.
_settled_totals: WeightedCache[tuple[date, date, int], list[DayTotal]] = WeightedCache(
    capacity=1000, weight=len
)
register_cache(_settled_totals)


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
    """Day, calls, client errors and server errors of all applications together, one row a day (UTC).

    Only today and yesterday are added up each time: calls of earlier days were all written long ago, and their totals
    are kept for a few minutes.
    """
    last = today()
    settled, first = last - timedelta(days=1), last - timedelta(days=days - 1)
    key = first, settled, int(monotonic() // KEPT_SECONDS)
    if earlier := _settled_totals.get(key):
        return [*earlier, *_totals(settled)]
    totals = _totals(first)
    _settled_totals.put(key, [one for one in totals if one[0] < settled])
    return totals


def _totals(first: date) -> list[DayTotal]:
    rows = DailyUsage.objects.filter(day__gte=first).values_list("day").order_by("day")
    return list(rows.annotate(Sum("calls"), Sum("client_errors"), Sum("server_errors")))
