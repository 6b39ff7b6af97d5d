"""Orders received and shipped, and API calls, by day and store: from tallies, without counting orders."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from django.db.models import Sum, Value

from stores.catalog.models import StoreUsage
from stores.orders.models import OrderDay

DAYS = 14


class DailyCount(NamedTuple):
    """The orders of a store on one day."""

    day: date
    store_pk: int
    store: str
    placed: int
    shipped: int
    calls: int


def daily_counts(store_pks: Sequence[int] | None) -> list[DailyCount]:
    """Orders and API calls of the last days, today included, in rows of their own. None: every store.

    Days of orders are in the store's time zone; days of
    calls are those of UTC.
    """
    first = datetime.now(UTC).date() - timedelta(days=DAYS)
    orders, calls = OrderDay.objects.filter(day__gte=first), StoreUsage.objects.filter(day__gt=first)
    if store_pks is not None:
        orders, calls = orders.filter(store__in=store_pks), calls.filter(store__in=store_pks)
    columns = ("day", "store", "store__company_name")
    of_orders = orders.values_list(*columns).annotate(new=Sum("placed"), sent=Sum("shipped"), called=Value(0))
    of_calls = calls.values_list(*columns).annotate(new=Value(0), sent=Value(0), called=Sum("calls"))
    # One statement for both: each card of the start page may run one.
    return [DailyCount(*row) for row in of_orders.union(of_calls, all=True).order_by("day", "store")]
