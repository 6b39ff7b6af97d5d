"""How often the API was called for stores, day by day."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from stores.catalog.models import StoreUsage


def daily_store_calls(store_pks: Sequence[int] | None, *, days: int) -> list[tuple[date, str, int]]:
    """Day (UTC), name of the store, calls; of the last days, today included. None: every store."""
    first = datetime.now(UTC).date() - timedelta(days=days - 1)
    rows = StoreUsage.objects.filter(day__gte=first)
    if store_pks is not None:
        rows = rows.filter(store__in=store_pks)
    return list(rows.values_list("day", "store__company_name", "calls").order_by("day", "store"))
