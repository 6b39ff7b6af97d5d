"""How PostgreSQL finds a page of the export view for each filter: `python -m tests.benchmarks.export_plans`.

Beside so many orders as `--orders` says, kept in var/bench-orders-postgres as those of `make bench ORDERS=…`. The
time and the pages read are those of the statement itself: they say something on a machine with other work, too. Ends
with 1 where a page reads more than its mark.
"""

import argparse
import os
import statistics
import sys
import time
from dataclasses import replace
from typing import Any

from tests.benchmarks.orders import DEFAULT, FIRST, LARGE_STORE, TYPICAL, _prepare_environment

ROUNDS = 5
# Pages of 8 kB: those of a hundred orders in full, and of the way to them.
MAX_PAGES = 1000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--orders", type=int, default=DEFAULT, help="make so many in all")
    arguments = parser.parse_args()
    _prepare_environment("fulfillment")
    from tests.benchmarks import order_data

    order_data.prepare()
    order_data.fill(to=arguments.orders, large=LARGE_STORE)
    print(f"{order_data.count():,} orders in {order_data.STORES} stores, load {os.getloadavg()[0]:.1f}\n")
    print("| store | filter | page, median | pages read | count, median | by |\n|---|---|---|---|---|---|")
    over = False
    for store in (TYPICAL, FIRST):
        for name, wanted in _filters(order_data.an_order(store), store).items():
            milliseconds, pages, nodes = _explained(wanted)
            over |= pages > MAX_PAGES
            counted = _count_time(wanted)
            print(f"| {store} | {name} | {milliseconds:.2f} ms | {pages:,} | {counted:.2f} ms | {nodes} |")
    return int(over)


def _filters(order: dict[str, str], store: str) -> dict[str, Any]:
    from datetime import datetime
    from uuid import UUID

    from accounts.callers import Caller
    from accounts.models import User
    from stores.catalog.models import Store
    from stores.orders.selectors.access import StoreAccess
    from stores.orders.selectors.export_query import order_query

    access = StoreAccess(
        Store.objects.get(external_id=store), Caller.on_pages(User.objects.get(username="owner")), True
    )
    newest, half, until = (datetime.fromisoformat(order[name]) for name in ("newest", "updated", "to"))
    changed: dict[str, Any] = {
        "`updatedAfter`, the last few": {"updated_after": newest},
        "`updatedAfter`, half": {"updated_after": half},
        "`updatedAfter` and `status=70`": {"updated_after": half, "statuses": (70,)},
        "`updatedAfter` and `status=20`": {"updated_after": half, "statuses": (20,)},
        "`updatedAfter`, the last few, and `status=70`": {"updated_after": newest, "statuses": (70,)},
        "`updatedAfter` and `productID`": {"updated_after": half, "product_id": order["product"]},
        "`updatedAfter` and `externalID`": {"updated_after": half, "external_id": order["external"]},
        "`updatedAfter` and `createdBefore`": {"updated_after": half, "created_before": until},
    }
    sought: dict[str, Any] = {"none": {}, "`externalID`": {"external_id": order["external"]}}
    sought |= {"`externalID` of none": {"external_id": "there-is-none"}, **changed}
    queries: dict[str, Any] = {name: order_query(access, **filters) for name, filters in sought.items()}
    own = replace(queries["`updatedAfter`, half"], application=UUID(order["application"]))
    return {**queries, "`updatedAfter`, an application's own": own}


def _explained(wanted: Any) -> tuple[float, int, str]:
    from django.db import connection

    from stores.orders.selectors import export

    wanted = wanted.simplified
    statement = export.page_statement(wanted)
    parameters = wanted.parameters | {"skip": 0, "limit": 101}
    times = []
    with connection.cursor() as cursor:
        for _ in range(ROUNDS):
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters)
            [found] = cursor.fetchone()[0]
            times.append(found["Execution Time"])
    plan = found["Plan"]
    pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    return statistics.median(times), pages, ", ".join(dict.fromkeys(_indexes(plan)))


def _count_time(wanted: Any) -> float:
    """That of the number in X-Total-Count, as a request sees it: it has no mark."""
    from stores.orders.selectors import export

    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        export.export_count(wanted, export.Page([], [], has_more=False))
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def _indexes(plan: dict[str, Any]) -> list[str]:
    own = [plan["Index Name"]] if "Index Name" in plan else []
    return own + [name for part in plan.get("Plans", ()) for name in _indexes(part)]


if __name__ == "__main__":
    sys.exit(main())
