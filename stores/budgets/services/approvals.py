"""Whether the budgets that counted an order still have room for it when it is approved."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from fulfillment.core.db.prepared import fetch_rows
from stores.budgets.models import Budget, OverBudget
from stores.budgets.selectors.standings import COLUMNS, LISTED
from stores.budgets.services.claims import budget_exceeded, is_counted
from stores.budgets.standings import Countable, Period, Standing, overdraft_record

# What took the place: the entries of an order, or of the reservation of a batch, which is negative.
OF_ORDER = "own.order_id = %s AND own.kind = 'Order'"
OF_BATCH = "own.reservation_id = %s AND own.kind = 'Reservation' AND own.amount < 0"
LOCK = """
SELECT budget.id FROM stores_budgetentry own JOIN stores_budget budget ON budget.id = own.budget_id
WHERE {own} ORDER BY budget.id FOR NO KEY UPDATE OF budget
"""
# Used is what was counted before: later orders never take its place. What an earlier batch gave back is room again.
PLACES = f"""
SELECT {LISTED}, -own.amount, period.id, period.number, period.starts, period.ends, period.added,
       period.used + own.amount + coalesce((
           SELECT sum(later.amount) FROM stores_budgetentry later
           WHERE later.period_id = own.period_id
             AND (later.kind = 'Reservation' AND later.id > own.id OR later.order_id IN (
               SELECT placed.order_id FROM stores_budgetentry placed
               WHERE placed.period_id = own.period_id AND placed.kind = 'Order' AND placed.id > own.id)
             OR later.kind = 'Release' AND later.reservation_id IN (
               SELECT begun.reservation_id FROM stores_budgetentry begun
               WHERE begun.period_id = own.period_id AND begun.kind = 'Reservation' AND begun.amount < 0
                 AND begun.id > own.id))), 0)
FROM stores_budgetentry own
JOIN stores_budget budget ON budget.id = own.budget_id
JOIN stores_budgetperiod period ON period.id = own.period_id
WHERE {{own}} AND budget.is_enabled
ORDER BY budget.id
"""  # noqa: S608 - names of our columns


def check_room(
    *, order: Countable, reasons: Iterable[Mapping[str, Any]], reservation_id: UUID | None = None
) -> None:
    """Raises Conflict if a limit was lowered since, so that the order has no place in a budget any more.

    `reasons` are those of its approval: what a budget lacked then is known. For a batch give its reservation.
    """
    if not is_counted(order):
        return
    known_limits = {
        reason["BudgetID"]: Decimal(str(reason["Limit"])) for reason in reasons if reason["Kind"] == "Budget"
    }
    own, key = (OF_BATCH, reservation_id) if reservation_id else (OF_ORDER, order.pk)
    fetch_rows(LOCK.format(own=own), (key,))
    exceeded = []
    # A statement of its own: it sees what was written by the transactions that held the locks before.
    for row in fetch_rows(PLACES.format(own=own), (key,)):
        budget = Budget.from_db("default", COLUMNS, row[: len(COLUMNS)])
        requested, *period = row[len(COLUMNS) :]
        standing = Standing(budget, Period(*period))
        known_limit = known_limits.get(str(budget.pk))
        is_accepted = budget.over_budget == OverBudget.WARN or (
            known_limit is not None and standing.limit >= known_limit
        )
        if requested > standing.remaining and not is_accepted:
            exceeded.append(overdraft_record(standing, requested))
    if exceeded:
        raise budget_exceeded(exceeded)
