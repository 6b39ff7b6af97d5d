"""Reserves budgets for orders that are written later, and gives back what these did not take."""

from uuid import UUID

from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_rows
from stores.budgets.models import BudgetReservation, EntryKind
from stores.budgets.services.counting import (
    BudgetOutcome,
    announce_claims,
    binding_claims,
    decide_claims,
    open_periods,
)
from stores.budgets.services.ledger import Posting, Reason, write_entries
from stores.budgets.standings import PlannedOrders

LOCK = """
SELECT reserved.budget_id, reserved.period_id, reserved.remaining
FROM stores_budget budget JOIN stores_budgetreservation reserved ON reserved.budget_id = budget.id
WHERE reserved.reservation_id = %s ORDER BY budget.id FOR NO KEY UPDATE OF budget, reserved
"""


def reserve_budgets(*, planned: PlannedOrders, caller: Caller, note: str) -> BudgetOutcome:
    """Takes the sum of the orders from every budget that binds them, or raises Conflict and takes it from none.

    Call it once, as the last step of the transaction. `count_order` then takes each order from the reservation
    `planned.pk`, and `release_reservation` gives back the rest.
    """
    claims = binding_claims(planned, orders=planned.orders)
    outcome = decide_claims(claims)
    open_periods(claims, at=planned.created)
    postings = [Posting(one.budget_id, one.standing.period.pk, -one.requested) for one in claims]
    reason = Reason(
        EntryKind.RESERVATION,
        f"reservation:{planned.pk}",
        planned.created,
        user_id=caller.user_id,
        application_id=caller.application_id,
        note=note,
    )
    write_entries(postings=postings, reason=reason)
    BudgetReservation.objects.bulk_create(
        BudgetReservation(
            reservation_id=planned.pk, budget_id=budget_id, period_id=period_id, remaining=-amount
        )
        for budget_id, period_id, amount in postings
        if period_id is not None
    )
    announce_claims(claims, planned)
    return outcome


def release_reservation(*, reservation_id: UUID, caller: Caller, note: str) -> None:
    """Gives back what is left, to the periods that counted it; a second call changes nothing.

    Call it in a transaction: it locks the budgets until that ends.
    """
    rows = fetch_rows(LOCK, (reservation_id,))
    reason = Reason(
        EntryKind.RELEASE,
        f"release:{reservation_id}",
        timezone.now(),
        user_id=caller.user_id,
        application_id=caller.application_id,
        note=note,
    )
    left = [Posting(*row) for row in rows]
    write_entries(postings=[posting for posting in left if posting.amount], reason=reason)
    BudgetReservation.objects.filter(reservation_id=reservation_id).delete()
