"""How long the search of orders takes beside the orders of the benchmark, as the pages ask it."""

import statistics
import time
from collections.abc import Callable
from typing import Any

from tests.benchmarks.order_data import RARE, TYPICAL

SEARCH_MS = 50
SHOWN = 50


def search_times(rounds: int) -> dict[str, float]:
    """The median of milliseconds by what is searched: the count and one page of rows."""
    from stores.catalog.models import Store
    from stores.orders.models import Order

    typical = Store.objects.get(external_id=TYPICAL)
    newest = Order.objects.filter(store=typical).order_by("-created").first()
    assert newest is not None
    own = Order.objects.filter(store=typical)
    scoped = {"stores": [typical.pk]}
    every = Order.objects.all()
    searches: list[tuple[str, Any, str, dict[str, Any]]] = [
        ("a recipient with few orders", every, RARE, {}),
        ("the beginning of a rare name", every, RARE[:4], {}),
        ("an ExternalID", every, f"PO-{newest.number}", {}),
        ("a number without its last two digits", every, str(newest.number)[:-2], {}),
        ("a name in one of 100 orders", every, "Grace Kim", {}),
        ("two letters in one of 5 orders", every, "gr", {}),
        ("a city in one of 6 orders", every, "denver", {}),
        ("three common words", every, "grace denver product", {}),
        ("a word of every order", every, "product", {}),
        ("a rare name in one store", own, RARE, scoped),
        ("a common name in one store", own, "Grace Kim", scoped),
        ("a word of every order, in one store", own, "product", scoped),
        ("nothing", every, "xylophone", {}),
    ]
    return {name: _median(_search(orders, text, scope), rounds) for name, orders, text, scope in searches}


def _search(orders: Any, text: str, scope: dict[str, Any]) -> Callable[[], Any]:
    from stores.orders.selectors.search import search_orders

    ordered = orders.order_by("-created", "-id") if scope else orders.order_by("-number")

    def run() -> None:
        found = search_orders(ordered, text, **scope).orders
        list(found.defer("rendering")[:SHOWN])
        found.order_by()[:10_001].count()

    return run


def _median(run: Callable[[], Any], rounds: int) -> float:
    run()
    taken = []
    for _ in range(max(rounds, 3)):
        started = time.perf_counter()
        run()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)
