"""Counts orders against the budgets that bind them, as they are written; reserves what a batch takes before."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.callers import Caller
from fulfillment.core.db.prepared import fetch_rows
from fulfillment.core.errors import Conflict
from stores.budgets.models import Budget, EntryKind
from stores.budgets.selectors.standings import COLUMNS, FITS, LISTED, binding_standings, parameters_of
from stores.budgets.services.announcements import announce_levels
from stores.budgets.services.ledger import (
    INSERT_ENTRIES,
    REASON,
    Posting,
    Reason,
    open_period,
    reason_parameters,
    write_entries,
)
from stores.budgets.standings import (
    BudgetDecision,
    Countable,
    Period,
    Standing,
    measure,
    overdraft_record,
)
from stores.catalog.models.store import BudgetType

# The columns of a period, after its ID.
PERIOD_COLUMNS = tuple(period_field.name for period_field in fields(Period))[1:]
# The rows of a budget and its period are both locked: after a wait PostgreSQL reads both again. Nothing is written
# where a budget has no row of the period yet, or no longer binds after the wait; and where the period is over, or may
# have ended during the wait: the next one may have taken over what was left of it.
CLAIM = f"""
WITH bound AS MATERIALIZED (
    SELECT CASE budget.type WHEN 'Amount' THEN %(Amount)s::numeric WHEN 'Orders' THEN %(Orders)s::numeric
                            ELSE %(Quantity)s::numeric END AS requested,
           period.id AS period_id, {", ".join(f"period.{name}" for name in PERIOD_COLUMNS)}, {LISTED}
    FROM stores_budget budget
    JOIN stores_budgetperiod period
        ON period.budget_id = budget.id AND period.starts <= %(at)s AND period.ends > %(at)s
    WHERE {FITS} AND NOT EXISTS (
        SELECT FROM stores_budgetperiod later WHERE later.budget_id = budget.id AND later.number > period.number
    )
    ORDER BY budget.id FOR NO KEY UPDATE OF budget, period
), found AS MATERIALIZED (
    SELECT (SELECT count(*) FROM stores_budget budget WHERE {FITS}) = (
        SELECT count(*) FROM bound WHERE ends > %(now)s + (clock_timestamp() - statement_timestamp())
    ) AS is_whole
), entry AS (
    {INSERT_ENTRIES}
    SELECT bound.id, bound.period_id, -bound.requested, {REASON}
    FROM bound, found WHERE found.is_whole AND bound.requested <> 0
), balance AS (
    UPDATE stores_budgetperiod period SET used = period.used + bound.requested
    FROM bound, found WHERE found.is_whole AND bound.requested <> 0 AND period.id = bound.period_id
)
SELECT found.is_whole, bound.* FROM found LEFT JOIN bound ON true ORDER BY bound.id
"""  # noqa: S608 - names of our columns
COUNTED = """
SELECT entry.budget_id, entry.period_id, -entry.amount
FROM stores_budgetentry entry JOIN stores_budget budget ON budget.id = entry.budget_id
WHERE entry.order_id = %s AND entry.kind = 'Order' ORDER BY budget.id FOR NO KEY UPDATE OF budget
"""
LOCK = """
SELECT id FROM stores_budget
WHERE id IN (SELECT budget_id FROM stores_budgetentry WHERE reservation_id = %s) ORDER BY id FOR NO KEY UPDATE
"""
REMAINING = """
SELECT entry.budget_id, entry.period_id, budget.type, -sum(entry.amount)
FROM stores_budgetentry entry JOIN stores_budget budget ON budget.id = entry.budget_id
WHERE entry.reservation_id = %s GROUP BY entry.budget_id, entry.period_id, budget.type ORDER BY entry.budget_id
"""


@dataclass(frozen=True, slots=True)
class BudgetOutcome:
    """`reasons` are the budgets for which the order needs an approval; `messages` those it exceeds with a warning."""

    reasons: list[dict[str, Any]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PeriodClaim:
    """What is requested of a budget, as it stood before."""

    standing: Standing
    requested: Decimal

    @property
    def decision(self) -> BudgetDecision:
        return self.standing.decide(self.requested)

    @property
    def record(self) -> dict[str, Any]:
        return overdraft_record(self.standing, self.requested)


def claim_budgets(*, order: Countable, reason: Reason, orders: int = 1) -> BudgetOutcome:
    """Takes what the order, or a batch of `orders`, needs from every budget that binds it.

    Raises Conflict if a budget refuses; then the transaction must be rolled back. Call it as the last step of the
    transaction: the budgets stay locked until that ends.
    """
    needs = {
        kind: measure(kind, total=order.total, quantity=order.total_quantity, orders=orders)
        for kind in BudgetType.values
    }
    claims = _claim_open_periods(order, reason, needs)
    if claims is None:
        claims = _claim_new_periods(order, reason, needs)
    outcome = _decide_claims(claims)
    for claim in claims:
        claim.standing.period.used += claim.requested
        announce_levels(claim.standing, store=order.store, application_id=order.application_id)
    return outcome


def budget_exceeded(records: Sequence[dict[str, Any]]) -> Conflict:
    names = ", ".join(record["Name"] for record in records)
    plural = len(records) > 1
    message = (
        f"The order exceeds {'these budgets' if plural else 'a budget'}: {names}. `Budgets` has the numbers."
    )
    return Conflict(message, code="budget_exceeded", members={"Budgets": list(records)})


def _claim_open_periods(
    order: Countable, reason: Reason, needs: dict[str, Decimal]
) -> list[PeriodClaim] | None:
    """Claims in one statement; None, with nothing written, unless each budget has a row of the period."""
    parameters = {
        **parameters_of(**_name_buyer(order)),
        **needs,
        **reason_parameters(reason),
        "now": timezone.now(),
    }
    rows = fetch_rows(CLAIM, parameters)
    if not rows[0][0]:
        return None
    claims = []
    for _, requested, period_id, *columns in rows:
        if requested:
            period = Period(period_id, *columns[: len(PERIOD_COLUMNS)])
            budget = Budget.from_db("default", COLUMNS, columns[len(PERIOD_COLUMNS) :])
            claims.append(PeriodClaim(Standing(budget, period), requested))
    return claims


def _claim_new_periods(order: Countable, reason: Reason, needs: dict[str, Decimal]) -> list[PeriodClaim]:
    standings = binding_standings(**_name_buyer(order), lock=True)
    claims = [
        PeriodClaim(standing, needs[standing.budget.type])
        for standing in standings
        if needs[standing.budget.type]
    ]
    postings = []
    for claim in claims:
        open_period(claim.standing, moment=order.created)
        postings.append(Posting(claim.standing.budget.pk, claim.standing.period.pk, -claim.requested))
    write_entries(postings=postings, reason=reason)
    return claims


def _name_buyer(order: Countable) -> dict[str, Any]:
    return {
        "store": order.store,
        "user_id": order.user_id,
        "application_id": order.application_id,
        "moment": order.created,
    }


def _decide_claims(claims: Sequence[PeriodClaim]) -> BudgetOutcome:
    by_decision: dict[BudgetDecision, list[PeriodClaim]] = {decision: [] for decision in BudgetDecision}
    for claim in claims:
        by_decision[claim.decision].append(claim)
    if refused := by_decision[BudgetDecision.REFUSED]:
        raise budget_exceeded([claim.record for claim in refused])
    return BudgetOutcome(
        reasons=[claim.record for claim in by_decision[BudgetDecision.NEEDS_APPROVAL]],
        messages=[_describe_warning(claim) for claim in by_decision[BudgetDecision.WARNED]],
    )


def _describe_warning(claim: PeriodClaim) -> str:
    standing = claim.standing
    used = standing.text(standing.period.used + claim.requested)
    return (
        f"The budget {standing.budget.name} is exceeded: {used} of {standing.text(standing.limit)} are used."
    )


def count_in_budgets(*, order: Countable, caller: Caller) -> BudgetOutcome:
    """Counts the order in every budget that binds it, or raises Conflict; see `claim_budgets`."""
    if not is_counted(order):
        return BudgetOutcome()
    reason = Reason(EntryKind.ORDER, f"order:{order.pk}", order.created, caller, order.pk)
    return claim_budgets(order=order, reason=reason)


def is_counted(order: Countable) -> bool:
    """Test orders and orders of the demo store never count."""
    return order.store.budget_enabled and not (order.is_test or order.store.is_demo)


def release_order(*, order: Countable, moment: datetime, caller: Caller) -> None:
    """Gives back what the order took, to the periods that counted it; call it once, with the order locked."""
    if counted := [Posting(*row) for row in fetch_rows(COUNTED, (order.pk,))]:
        reason = Reason(EntryKind.RELEASE, f"release:{order.pk}", moment, caller, order.pk)
        write_entries(postings=counted, reason=reason)


def reserve_budgets(*, batch: Countable, orders: int, reservation_id: UUID, caller: Caller) -> BudgetOutcome:
    """Reserves the sum of a batch in every budget that binds it, or raises Conflict; see `claim_budgets`."""
    if not is_counted(batch):
        return BudgetOutcome()
    cause = f"reserve:{reservation_id}"
    reason = Reason(EntryKind.RESERVATION, cause, batch.created, caller, reservation_id=reservation_id)
    return claim_budgets(order=batch, reason=reason, orders=orders)


def count_reserved_order(*, order: Countable, caller: Caller, reservation_id: UUID) -> None:
    """Counts an order of the batch in place of its part of the reservation, in the same periods.

    It is never refused: its place was reserved. Call it as the last step of the transaction.
    """
    claimed_amounts, counted = [], []
    for budget_id, period_id, budget_type, remaining in _lock_remainders(reservation_id):
        amount = measure(budget_type, total=order.total, quantity=order.total_quantity)
        if part := min(amount, remaining):
            claimed_amounts.append(Posting(budget_id, period_id, part))
        if amount:
            counted.append(Posting(budget_id, period_id, -amount))
    if claimed_amounts:
        cause = f"reserved:{order.pk}"
        reason = Reason(EntryKind.RESERVATION, cause, order.created, caller, reservation_id=reservation_id)
        write_entries(postings=claimed_amounts, reason=reason)
    if counted:
        reason = Reason(EntryKind.ORDER, f"order:{order.pk}", order.created, caller, order.pk)
        write_entries(postings=counted, reason=reason)


def release_reservation(*, reservation_id: UUID | None) -> None:
    """Gives back what did not become orders, to the periods that it was taken from. Repeating it changes nothing."""
    if reservation_id is None:
        return
    remainders = _lock_remainders(reservation_id)
    if postings := [
        Posting(budget, period, remaining) for budget, period, _, remaining in remainders if remaining
    ]:
        cause = f"unreserve:{reservation_id}"
        reason = Reason(EntryKind.RELEASE, cause, timezone.now(), reservation_id=reservation_id)
        write_entries(postings=postings, reason=reason)


def _lock_remainders(reservation_id: UUID) -> list[tuple[Any, ...]]:
    """Locks the budgets of the reservation; returns each with its period, its type and what remains in it."""
    fetch_rows(LOCK, (reservation_id,))
    # A statement of its own: it sees what was written by the transactions that held the locks before.
    return fetch_rows(REMAINING, (reservation_id,))
