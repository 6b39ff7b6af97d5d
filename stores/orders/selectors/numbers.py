from collections.abc import Collection

from django.db.models import Max, Min, OuterRef, Subquery

from stores.catalog.models import Store
from stores.orders.models import Order


def number_range(store_ids: Collection[int]) -> tuple[int, int] | None:
    """The lowest and the highest order number of these stores; None where there is no order.

    Orders of several stores are found along the numbers of all: a search that began at the service's newest order
    would pass by everything placed since the last one of these stores.
    """
    orders = Order.objects.filter(store=OuterRef("pk"))
    first, last = (orders.order_by(order).values("number")[:1] for order in ("position", "-position"))
    found = (
        Store.objects.filter(pk__in=store_ids)
        .annotate(first=Subquery(first), last=Subquery(last))
        .aggregate(lowest=Min("first"), highest=Max("last"))
    )
    return None if found["lowest"] is None else (found["lowest"], found["highest"])
