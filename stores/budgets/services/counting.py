"""Counts orders against the budgets that bind them, in the transaction that writes the order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import Conflict
from stores.budgets.models import EntryKind
from stores.budgets.selectors.standings import binding_standings
from stores.budgets.services.announcements import announce_levels
from stores.budgets.services.ledger import Posting, Reason, open_period, write_entries
from stores.budgets.standings import BudgetDecision, Countable, Standing, measure, overdraft_record

COUNTED = """
SELECT entry.budget_id, entry.period_id, -entry.amount
FROM stores_budgetentry entry JOIN stores_budget budget ON budget.id = entry.budget_id
WHERE entry.order_id = %s AND entry.kind = 'Order' ORDER BY budget.id FOR NO KEY UPDATE OF budget
"""


@dataclass(frozen=True, slots=True)
class BudgetOutcome:
    """`reasons` are the budgets for which the order needs an approval; `messages` those it exceeds with a warning."""

    reasons: list[dict[str, Any]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Claim:
    standing: Standing
    requested: Decimal

    @property
    def decision(self) -> BudgetDecision:
        return self.standing.decide(self.requested)

    @property
    def record(self) -> dict[str, Any]:
        return overdraft_record(self.standing, self.requested)


def count_order(*, order: Countable, caller: Caller) -> BudgetOutcome:
    """Counts the order in every budget that binds it, or raises Conflict and counts it in none.

    Call it as the last step of the transaction: the budgets stay locked until that ends.
    """
    if not is_counted(order):
        return BudgetOutcome()
    claims = claims_of(order)
    outcome = decide_claims(claims)
    if claims:
        reason = Reason(
            EntryKind.ORDER,
            f"order:{order.pk}",
            order.created,
            order.pk,
            user_id=caller.user_id,
            application_id=caller.application_id,
        )
        write_claims(claims=claims, order=order, reason=reason)
    return outcome


def claims_of(order: Countable, *, orders: int = 1) -> list[Claim]:
    """What the order, or a batch of `orders`, takes from each budget that binds it. These stay locked."""
    standings = binding_standings(
        store=order.store,
        user_id=order.user_id,
        application_id=order.application_id,
        at=order.created,
        lock=True,
    )
    claims = [
        Claim(one, measure(one.budget.type, total=order.total, quantity=order.total_quantity, orders=orders))
        for one in standings
    ]
    return [claim for claim in claims if claim.requested]


def is_counted(order: Countable) -> bool:
    """Reprints at price 0, test orders and orders of the demo store never count."""
    free_reprint = order.reprint_of_id is not None and not order.total
    return order.store.budget_enabled and not (order.is_test or order.store.is_demo or free_reprint)


def release_order(*, order: Countable, user_id: UUID | None, application_id: UUID | None) -> None:
    """Gives back what the order took, to the periods that counted it; call it once, with the order locked."""
    counted = [Posting(*row) for row in fetch_rows(COUNTED, (order.pk,))]
    if not counted:
        return
    reason = Reason(
        EntryKind.RELEASE,
        f"release:{order.pk}",
        timezone.now(),
        order.pk,
        user_id=user_id,
        application_id=application_id,
    )
    write_entries(postings=counted, reason=reason)


def budget_exceeded(records: Sequence[dict[str, Any]]) -> Conflict:
    names = ", ".join(record["Name"] for record in records)
    plural = len(records) > 1
    message = (
        f"The order exceeds {'these budgets' if plural else 'a budget'}: {names}. `Budgets` has the numbers."
    )
    return Conflict(message, code="budget_exceeded", members={"Budgets": list(records)})


def decide_claims(claims: Sequence[Claim]) -> BudgetOutcome:
    """Raises Conflict if a budget refuses."""
    by_decision: dict[BudgetDecision, list[Claim]] = {decision: [] for decision in BudgetDecision}
    for claim in claims:
        by_decision[claim.decision].append(claim)
    if refused := by_decision[BudgetDecision.REFUSED]:
        raise budget_exceeded([claim.record for claim in refused])
    return BudgetOutcome(
        reasons=[claim.record for claim in by_decision[BudgetDecision.NEEDS_APPROVAL]],
        messages=[_warning(claim) for claim in by_decision[BudgetDecision.WARNED]],
    )


def _warning(claim: Claim) -> str:
    standing = claim.standing
    used = standing.text(standing.period.used + claim.requested)
    return (
        f"The budget {standing.budget.name} is exceeded: {used} of {standing.text(standing.limit)} are used."
    )


def write_claims(*, claims: Sequence[Claim], order: Countable, reason: Reason) -> None:
    for claim in claims:
        open_period(claim.standing, at=order.created)
    postings = [
        Posting(claim.standing.budget.pk, claim.standing.period.pk, -claim.requested) for claim in claims
    ]
    write_entries(postings=postings, reason=reason)
    for claim in claims:
        claim.standing.period.used += claim.requested
        announce_levels(claim.standing, store=order.store, application_id=order.application_id)
