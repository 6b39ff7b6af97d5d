"""How PostgreSQL finds a page of the export view for each filter: `python -m tests.benchmarks.export_plans`.

Beside so many orders as `--orders` says, kept in var/bench-orders-postgres as those of `make bench ORDERS=…`. The
time and the pages read are those of the statement itself: they say something on a machine with other work, too. Ends
with 1 where a page reads more than its mark.
"""

import argparse
import os
import statistics
import sys
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
    print("| store | filter | statement, median | pages read | by |\n|---|---|---|---|---|")
    over = False
    for store in (TYPICAL, FIRST):
        for name, wanted in _filters(order_data.an_order(store), store).items():
            milliseconds, pages, nodes = _explained(wanted)
            over |= pages > MAX_PAGES
            print(f"| {store} | {name} | {milliseconds:.2f} ms | {pages:,} | {nodes} |")
    return int(over)


def _filters(order: dict[str, str], store: str) -> dict[str, Any]:
    from datetime import datetime

    from stores.catalog.models import Store
    from stores.orders.selectors.export import OrderExportQuery

    number = Store.objects.get(external_id=store).pk
    moments = {name: datetime.fromisoformat(order[name]) for name in ("newest", "updated", "from")}
    return {
        "none": OrderExportQuery(number),
        "`externalID`": OrderExportQuery(number, external_id=order["external"]),
        "`externalID` of none": OrderExportQuery(number, external_id="there-is-none"),
        "`updatedAfter`, the last few": OrderExportQuery(number, updated=moments["newest"]),
        "`updatedAfter`, half": OrderExportQuery(number, updated=moments["updated"]),
        "`updatedAfter` and `status=70`": OrderExportQuery(
            number, updated=moments["updated"], statuses=(70,)
        ),
    }


def _explained(wanted: Any) -> tuple[float, int, str]:
    from django.db import connection

    from stores.orders.selectors import export

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


def _indexes(plan: dict[str, Any]) -> list[str]:
    own = [plan["Index Name"]] if "Index Name" in plan else []
    return own + [name for part in plan.get("Plans", ()) for name in _indexes(part)]


if __name__ == "__main__":
    sys.exit(main())
