"""Reserves what a batch takes from budgets, turns it into its orders one by one, and gives the rest back."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_rows
from stores.budgets.models import EntryKind
from stores.budgets.services.claims import BudgetOutcome, claim_budgets
from stores.budgets.services.counting import is_counted
from stores.budgets.services.ledger import Posting, Reason, write_entries
from stores.budgets.standings import Countable, measure

LOCK = """
SELECT id FROM stores_budget
WHERE id IN (SELECT budget_id FROM stores_budgetentry WHERE reservation_id = %s) ORDER BY id FOR NO KEY UPDATE
"""
LEFT = """
SELECT entry.budget_id, entry.period_id, budget.type, -sum(entry.amount)
FROM stores_budgetentry entry JOIN stores_budget budget ON budget.id = entry.budget_id
WHERE entry.reservation_id = %s GROUP BY entry.budget_id, entry.period_id, budget.type ORDER BY entry.budget_id
"""


def reserve_budgets(*, batch: Countable, orders: int, reservation_id: UUID, caller: Caller) -> BudgetOutcome:
    """Reserves the sum of a batch in every budget that binds it, or raises Conflict; see `claim_budgets`."""
    if not is_counted(batch):
        return BudgetOutcome()
    reason = Reason(
        EntryKind.RESERVATION,
        f"reserve:{reservation_id}",
        batch.created,
        reservation_id=reservation_id,
        user_id=caller.user_id,
        application_id=caller.application_id,
    )
    return claim_budgets(order=batch, reason=reason, orders=orders)


def count_reserved_order(*, order: Countable, caller: Caller, reservation_id: UUID) -> None:
    """Counts an order of the batch in place of its part of the reservation, in the same periods.

    It is never refused: its place was reserved. Call it as the last step of the transaction.
    """
    taken, counted = [], []
    for budget_id, period_id, budget_type, left in _left(reservation_id):
        amount = measure(budget_type, total=order.total, quantity=order.total_quantity)
        if part := min(amount, left):
            taken.append(Posting(budget_id, period_id, part))
        if amount:
            counted.append(Posting(budget_id, period_id, -amount))
    by: dict[str, Any] = {"user_id": caller.user_id, "application_id": caller.application_id}
    if taken:
        cause = f"reserved:{order.pk}"
        reason = Reason(EntryKind.RESERVATION, cause, order.created, reservation_id=reservation_id, **by)
        write_entries(postings=taken, reason=reason)
    if counted:
        reason = Reason(EntryKind.ORDER, f"order:{order.pk}", order.created, order.pk, **by)
        write_entries(postings=counted, reason=reason)


def release_reservation(*, reservation_id: UUID | None) -> None:
    """Gives back what did not become orders, to the periods that it was taken from. Repeating it changes nothing."""
    if reservation_id is None:
        return
    rest = [
        Posting(budget_id, period_id, left) for budget_id, period_id, _, left in _left(reservation_id) if left
    ]
    if rest:
        cause = f"unreserve:{reservation_id}"
        reason = Reason(EntryKind.RELEASE, cause, timezone.now(), reservation_id=reservation_id)
        write_entries(postings=rest, reason=reason)


def _left(reservation_id: UUID) -> list[tuple[UUID, int, str, Decimal]]:
    """What is left of the reservation in each budget, which is locked."""
    fetch_rows(LOCK, (reservation_id,))
    # A statement of its own: it sees what was written by the transactions that held the locks before.
    rows: list[tuple[UUID, int, str, Decimal]] = [
        (row[0], row[1], row[2], row[3]) for row in fetch_rows(LEFT, (reservation_id,))
    ]
    return rows
