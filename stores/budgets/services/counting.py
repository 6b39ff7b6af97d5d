"""Counts orders against the budgets that bind them, in the transaction that writes the order."""

from datetime import datetime
from uuid import UUID

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_rows
from stores.budgets.models import EntryKind
from stores.budgets.services.claims import BudgetOutcome, claim_budgets
from stores.budgets.services.ledger import Posting, Reason, write_entries
from stores.budgets.standings import Countable

COUNTED = """
SELECT entry.budget_id, entry.period_id, -entry.amount
FROM stores_budgetentry entry JOIN stores_budget budget ON budget.id = entry.budget_id
WHERE entry.order_id = %s AND entry.kind = 'Order' ORDER BY budget.id FOR NO KEY UPDATE OF budget
"""


def count_order(*, order: Countable, caller: Caller) -> BudgetOutcome:
    """Counts the order in every budget that binds it, or raises Conflict; see `claim_budgets`."""
    if not is_counted(order):
        return BudgetOutcome()
    reason = Reason(
        EntryKind.ORDER,
        f"order:{order.pk}",
        order.created,
        order.pk,
        user_id=caller.user_id,
        application_id=caller.application_id,
    )
    return claim_budgets(order=order, reason=reason)


def is_counted(order: Countable) -> bool:
    """Reprints at price 0, test orders and orders of the demo store never count."""
    free_reprint = order.reprint_of_id is not None and not order.total
    return order.store.budget_enabled and not (order.is_test or order.store.is_demo or free_reprint)


def release_order(
    *, order: Countable, at: datetime, user_id: UUID | None, application_id: UUID | None
) -> None:
    """Gives back what the order took, to the periods that counted it; call it once, with the order locked."""
    counted = [Posting(*row) for row in fetch_rows(COUNTED, (order.pk,))]
    if not counted:
        return
    reason = Reason(
        EntryKind.RELEASE,
        f"release:{order.pk}",
        at,
        order.pk,
        user_id=user_id,
        application_id=application_id,
    )
    write_entries(postings=counted, reason=reason)
