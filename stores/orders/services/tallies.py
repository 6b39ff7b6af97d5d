from django.db import connection

from fulfillment.core.db.prepared import execute
from stores.orders.models import Order

TALLY = """
INSERT INTO stores_ordertally AS tally (store_id, application_id, status, orders) VALUES (%s, %s, %s, 1)
ON CONFLICT (store_id, application_id, status) DO UPDATE SET orders = tally.orders + %s::int
"""
RECOUNT_TALLIES = """
INSERT INTO stores_ordertally (store_id, application_id, status, orders)
SELECT store_id, application_id, status, count(*) FROM stores_order
WHERE NOT is_test GROUP BY store_id, application_id, status
"""


def count_order(order: Order, *, status: int, by: int) -> None:
    """Keeps the tally true to the orders, in the transaction that writes one. Test orders count nowhere."""
    if order.is_test:
        return
    execute(TALLY, [order.store_id, order.application_id, int(status), by])


def count_all_orders() -> None:
    """Counts again after orders were written without the services."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM stores_ordertally")
        cursor.execute(RECOUNT_TALLIES)
