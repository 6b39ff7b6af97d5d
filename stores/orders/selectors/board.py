"""What the list and the dashboard show: tallies, saved views, and due dates by the clock of the store."""

import time
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db.models import DecimalField, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from stores.budgets.models import Budget
from stores.catalog.models import Store, StoreUsage
from stores.orders.models import ApprovalRequest, CancellationState, Order, OrderDay, OrderTally, OrderView
from stores.orders.models.status import OPEN_STATUSES

DAYS = 14
SOON_DAYS = 3
MAX_VIEWS_SHOWN = 30
ZONE_CACHE_SECONDS = 60.0


class DailyCount(NamedTuple):
    """The orders of a store on one day, and the calls that named it."""

    day: date
    store_pk: int
    store: str
    currency: str
    placed: int
    shipped: int
    amount: Decimal
    calls: int


def daily_counts(store_pks: Sequence[int] | None) -> list[DailyCount]:
    """Orders and API calls of the last days and as many before, in rows of their own. None: every store.

    Days of orders are in the store's time zone; days of
    calls are those of UTC.
    """
    first = datetime.now(UTC).date() - timedelta(days=2 * DAYS)
    orders, calls = OrderDay.objects.filter(day__gte=first), StoreUsage.objects.filter(day__gt=first)
    if store_pks is not None:
        orders, calls = orders.filter(store__in=store_pks), calls.filter(store__in=store_pks)
    columns = ("day", "store", "store__company_name", "store__currency")
    none = Value(0, DecimalField(max_digits=16, decimal_places=2))
    of_orders = orders.values_list(*columns).annotate(
        new=Sum("placed"), sent=Sum("shipped"), worth=Sum("amount"), called=Value(0)
    )
    of_calls = calls.values_list(*columns).annotate(
        new=Value(0), sent=Value(0), worth=none, called=Sum("calls")
    )
    # One statement for both: each card of the start page may run one.
    return [DailyCount(*row) for row in of_orders.union(of_calls, all=True).order_by("day", "store")]


_cache: dict[str, tuple[float, list[str]]] = {}


def open_orders(orders: QuerySet[Order]) -> QuerySet[Order]:
    return orders.filter(status__in=OPEN_STATUSES)


def late_orders(orders: QuerySet[Order]) -> QuerySet[Order]:
    """Open orders after their due day."""
    return _find_due(orders, None, -1)


def orders_due_today(orders: QuerySet[Order]) -> QuerySet[Order]:
    return _find_due(orders, 0, 0)


def orders_due_soon(orders: QuerySet[Order]) -> QuerySet[Order]:
    """Due today or within the next days."""
    return _find_due(orders, 0, SOON_DAYS)


def count_urgent(
    orders: QuerySet[Order], approvals: QuerySet[ApprovalRequest], budgets: QuerySet[Budget], *, most: int
) -> tuple[int, int, int, int]:
    """The numbers of late orders, open cancellation requests, `approvals` and `budgets`, each up to `most` + 1.

    Test orders do not count.
    """
    orders = orders.filter(is_test=False)
    late = late_orders(orders).order_by().annotate(kind=Value("late"))
    cancellations = (
        orders.filter(cancellation=CancellationState.REQUESTED)
        .order_by()
        .annotate(kind=Value("cancellations"))
    )
    pending = approvals.order_by().annotate(kind=Value("approvals"))
    kinds = late.values_list("kind")[: most + 1].union(
        cancellations.values_list("kind")[: most + 1],
        pending.values_list("kind")[: most + 1],
        budgets.order_by().annotate(kind=Value("budgets")).values_list("kind")[: most + 1],
        all=True,
    )
    counts = Counter(kind for (kind,) in kinds)
    return counts["late"], counts["cancellations"], counts["approvals"], counts["budgets"]


def days_late(order: Order, now: datetime) -> int:
    """How many days an open order is past its due day: 0 on that day, negative before."""
    return (order.store.local_date(now) - order.latest_delivery).days


def _find_due(orders: QuerySet[Order], first: int | None, last: int) -> QuerySet[Order]:
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
    names_by_date: dict[date, list[str]] = {}
    for name in _list_zones():
        names_by_date.setdefault(now.astimezone(ZoneInfo(name)).date(), []).append(name)
    return names_by_date or {timezone.localdate(): []}


def _list_zones() -> list[str]:
    """The time zones of all stores, cached: the first order in a new zone may be missed for a minute."""
    if (cached := _cache.get("zones")) and time.monotonic() - cached[0] < ZONE_CACHE_SECONDS:
        return cached[1]
    names = list(Store.objects.order_by().values_list("time_zone", flat=True).distinct())
    _cache["zones"] = (time.monotonic(), names)
    return names


def orders_by_status(store_pks: Sequence[int] | None) -> dict[int, int]:
    """The number of orders of these stores (None: of all) by status, from the tallies."""
    tallies = (
        OrderTally.objects.all() if store_pks is None else OrderTally.objects.filter(store__in=store_pks)
    )
    sums = tallies.values_list("status").annotate(total=Sum("orders")).order_by("status")
    return {status: total for status, total in sums if total}


def order_views_for(user: Any, store_pks: Sequence[int] | None) -> QuerySet[OrderView]:
    """The user's own saved views, and those shared with the staff of these stores; None means all stores."""
    shared = Q(store__isnull=True) if store_pks is None else Q(store__in=store_pks)
    views = OrderView.objects.filter(Q(owner=user) | Q(shared, is_shared=True))
    return views.order_by("name", "pk")[:MAX_VIEWS_SHOWN]


def number_range(store_ids: Collection[int]) -> tuple[int, int] | None:
    """The lowest and the highest order number of these stores; None if they have no order.

    The bounds make a list of several stores fast: without them a scan in the order of numbers would read all
    newer orders of other stores first.
    """
    orders = Order.objects.filter(store=OuterRef("pk"))
    # Within each mode the numbers rise with `created`.
    kinds = (orders.filter(is_test=False), orders.filter(is_test=True))
    first, last = (
        [Subquery(kind.order_by(order).values("number")[:1]) for kind in kinds]
        for order in ("created", "-created")
    )
    bounds = (
        Store.objects.filter(pk__in=store_ids)
        .annotate(first=Least(*first), last=Greatest(*last))
        .aggregate(lowest=Min("first"), highest=Max("last"))
    )
    return None if bounds["lowest"] is None else (bounds["lowest"], bounds["highest"])
