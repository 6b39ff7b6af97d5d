from collections.abc import Collection

from django.db.models import Max, Min, OuterRef, Subquery
from django.db.models.functions import Greatest, Least

from stores.catalog.models import Store
from stores.orders.models import Order


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
    found = (
        Store.objects.filter(pk__in=store_ids)
        .annotate(first=Least(*first), last=Greatest(*last))
        .aggregate(lowest=Min("first"), highest=Max("last"))
    )
    return None if found["lowest"] is None else (found["lowest"], found["highest"])
