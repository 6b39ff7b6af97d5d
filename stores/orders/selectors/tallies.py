from collections.abc import Sequence

from django.db.models import Sum

from stores.orders.models import CancellationState, Order, OrderTally


def orders_by_status(store_pks: Sequence[int] | None) -> dict[int, int]:
    """The number of orders of these stores (None: of all) by status, from the tallies."""
    tallies = (
        OrderTally.objects.all() if store_pks is None else OrderTally.objects.filter(store__in=store_pks)
    )
    sums = tallies.values_list("status").annotate(total=Sum("orders")).order_by("status")
    return {status: total for status, total in sums if total}


def count_requested_cancellations(store_pks: Sequence[int] | None) -> int:
    """Orders whose cancellation waits for the store's answer; few, and found by an index of their own."""
    asked = Order.objects.filter(cancellation=CancellationState.REQUESTED, is_test=False)
    return (asked if store_pks is None else asked.filter(store__in=store_pks)).count()
