"""Counts orders by status, and by the day they were placed or shipped."""

from datetime import datetime

from applications.registration.services.milestones import TEST_ORDER, record_milestone_with_effect
from fulfillment.core.db.prepared import execute
from stores.orders.models import Order

TALLY = """
INSERT INTO stores_ordertally AS tally (store_id, application_id, status, orders) VALUES (%s, %s, %s, 1)
ON CONFLICT (store_id, application_id, status) DO UPDATE SET orders = tally.orders + %s::int
"""
# One round trip for a new order.
TALLY_PLACED = f"""
WITH placed AS (
    INSERT INTO stores_orderday AS known (store_id, day, placed, shipped, amount) VALUES (%s, %s, 1, 0, %s)
    ON CONFLICT (store_id, day) DO UPDATE SET placed = known.placed + 1, amount = known.amount + excluded.amount
)
{TALLY}
"""  # noqa: S608 - a constant
SHIPPED = """
INSERT INTO stores_orderday AS known (store_id, day, placed, shipped) VALUES (%s, %s, 0, 1)
ON CONFLICT (store_id, day) DO UPDATE SET shipped = known.shipped + 1
"""


def change_status_tally(*, order: Order, status: int, by: int) -> None:
    """Updates the tally in the transaction that writes an order. Test orders are not counted."""
    if order.is_test:
        return
    execute(TALLY, [order.store_id, order.application_id, int(status), by])


def count_new_order(order: Order) -> None:
    """Counts the order in its status and on the day it was placed. A test order is a first step of its application."""
    if order.is_test:
        if order.application_id is not None:
            record_milestone_with_effect(application_id=order.application_id, name=TEST_ORDER)
        return
    day = order.store.local_date(order.created)
    tally = [order.store_id, order.application_id, int(order.status), 1]
    execute(TALLY_PLACED, [order.store_id, day, order.total, *tally])


def count_shipped_order(order: Order, *, shipped_at: datetime) -> None:
    if order.is_test:
        return
    execute(SHIPPED, [order.store_id, order.store.local_date(shipped_at)])
