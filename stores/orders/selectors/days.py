"""Orders received and shipped by day and store, without counting orders."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from django.db.models import Sum

from stores.orders.models import OrderDay

DAYS = 14


def daily_orders(
    store_pks: Sequence[int] | None, *, days: int = DAYS
) -> list[tuple[date, int, str, int, int]]:
    """Day, key and name of the store, orders placed and shipped; of the last days, today included. None: every store.

    A day is the store's own; the one that has begun in the far east already is left out elsewhere.
    """
    first = datetime.now(UTC).date() - timedelta(days=days)
    rows = OrderDay.objects.filter(day__gte=first)
    if store_pks is not None:
        rows = rows.filter(store__in=store_pks)
    counted = rows.values_list("day", "store", "store__company_name").order_by("day", "store")
    return list(counted.annotate(Sum("placed"), Sum("shipped")))
