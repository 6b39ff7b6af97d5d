"""Due dates of orders. A day ends by the clock of the store, not of the user who looks at it."""

import time
from collections import Counter
from datetime import date, datetime, timedelta

from django.db.models import Q, QuerySet, Value
from django.utils import timezone

from fulfillment.core.caches import register_cache
from stores.catalog.models import Store
from stores.orders.business_days import local_date
from stores.orders.models import CancellationState, Order
from stores.orders.models.status import OPEN_STATUSES

SOON_DAYS = 3
ZONE_CACHE_SECONDS = 60.0
_cache: dict[str, tuple[float, list[str]]] = {}
register_cache(_cache)


def open_orders(orders: QuerySet[Order]) -> QuerySet[Order]:
    return orders.filter(status__in=OPEN_STATUSES)


def late_orders(orders: QuerySet[Order]) -> QuerySet[Order]:
    """Open orders after their due day."""
    return _due(orders, None, -1)


def orders_due_today(orders: QuerySet[Order]) -> QuerySet[Order]:
    return _due(orders, 0, 0)


def orders_due_soon(orders: QuerySet[Order]) -> QuerySet[Order]:
    """Due today or within the next days."""
    return _due(orders, 0, SOON_DAYS)


def count_urgent_orders(orders: QuerySet[Order], *, most: int) -> tuple[int, int]:
    """The numbers of late orders and of open cancellation requests, each up to `most` + 1, without test orders."""
    orders = orders.filter(is_test=False)
    late = late_orders(orders).order_by().annotate(kind=Value("late"))
    cancellations = (
        orders.filter(cancellation=CancellationState.REQUESTED)
        .order_by()
        .annotate(kind=Value("cancellations"))
    )
    found = late.values_list("kind")[: most + 1].union(
        cancellations.values_list("kind")[: most + 1], all=True
    )
    counts = Counter(kind for (kind,) in found)
    return counts["late"], counts["cancellations"]


def days_late(order: Order, now: datetime) -> int:
    """How many days an open order is past its due day: 0 on that day, negative before."""
    return (local_date(now, order.store.time_zone) - order.latest_delivery).days


def _due(orders: QuerySet[Order], first: int | None, last: int) -> QuerySet[Order]:
    """Due from `first` to `last` days after today; time zones make that at most three different dates."""
    zones = _zones_by_date()
    until = max(zones) + timedelta(days=last)
    bounded = open_orders(orders).filter(latest_delivery__lte=until)
    if first is not None:
        bounded = bounded.filter(latest_delivery__gte=min(zones) + timedelta(days=first))
    if len(zones) == 1:
        return bounded
    condition = Q(pk__in=())
    for today, names in zones.items():
        in_zone = Q(store__time_zone__in=names, latest_delivery__lte=today + timedelta(days=last))
        if first is not None:
            in_zone &= Q(latest_delivery__gte=today + timedelta(days=first))
        condition |= in_zone
    return bounded.filter(condition)


def _zones_by_date() -> dict[date, list[str]]:
    now = timezone.now()
    found: dict[date, list[str]] = {}
    for name in _zones():
        found.setdefault(local_date(now, name), []).append(name)
    return found or {timezone.localdate(): []}


def _zones() -> list[str]:
    """The time zones of all stores, cached: the first order in a new zone may be missed for a minute."""
    if (known := _cache.get("zones")) and time.monotonic() - known[0] < ZONE_CACHE_SECONDS:
        return known[1]
    names = list(Store.objects.order_by().values_list("time_zone", flat=True).distinct())
    _cache["zones"] = (time.monotonic(), names)
    return names
