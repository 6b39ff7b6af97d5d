"""Writes entries with the balances they change, in budgets that the caller has locked, and compares the two."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection, transaction

from accounts.callers import Caller
from fulfillment.core.db.prepared import execute, fetch_row
from stores.budgets.models import Budget, EntryKind
from stores.budgets.selectors.standings import standings_of
from stores.budgets.standings import Standing
from stores.catalog.models import Store

logger = logging.getLogger("fulfillment.budgets")

INSERT_ENTRIES = """
INSERT INTO stores_budgetentry
    (budget_id, period_id, amount, kind, cause, order_id, reservation_id, actor_user, actor_application, note, created)
"""
# The values of `reason_parameters`, in the order of these columns.
REASON = """
    %(kind)s, %(cause)s, %(order)s::uuid, %(reservation)s::uuid, %(actor_user)s::uuid, %(actor_application)s::uuid,
    %(note)s, %(created)s
"""
# For entries that the service makes by itself.
NO_CALLER = Caller()
# One round trip; at most one entry of each period, because PostgreSQL changes a row once in a statement.
WRITE = f"""
WITH entry AS (
    {INSERT_ENTRIES}
    SELECT listed.*, {REASON}
    FROM unnest(%(budgets)s::uuid[], %(periods)s::bigint[], %(amounts)s::numeric[]) AS listed
    RETURNING period_id, amount, kind IN ('Adjustment', 'CarryOver') AS adds
)
UPDATE stores_budgetperiod period
SET added = period.added + CASE WHEN entry.adds THEN entry.amount ELSE 0 END,
    used = period.used - CASE WHEN entry.adds THEN 0 ELSE entry.amount END
FROM entry WHERE period.id = entry.period_id
"""  # noqa: S608 - constants
NEW_PERIOD = """
INSERT INTO stores_budgetperiod (budget_id, number, starts, ends, added, used, level)
VALUES (%s, %s, %s, %s, 0, 0, 0) RETURNING id
"""
# One statement, so that balances and entries are of the same moment.
COMPARE = """
WITH folded AS (
    SELECT period_id,
           sum(CASE WHEN kind IN ('Adjustment', 'CarryOver') THEN amount ELSE 0 END) AS added,
           sum(CASE WHEN kind IN ('Adjustment', 'CarryOver') THEN 0 ELSE -amount END) AS used
    FROM stores_budgetentry GROUP BY period_id
)
SELECT period.id, period.budget_id, period.starts, period.differs,
       period.added, coalesce(folded.added, 0), period.used, coalesce(folded.used, 0)
FROM stores_budgetperiod period LEFT JOIN folded ON folded.period_id = period.id
WHERE period.differs
   OR (period.added, period.used) IS DISTINCT FROM (coalesce(folded.added, 0), coalesce(folded.used, 0))
"""
MARK = "UPDATE stores_budgetperiod SET differs = %s WHERE id = %s"


class Posting(NamedTuple):
    budget_id: UUID
    period_id: int | None
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Reason:
    """What entries are written for. `cause` is unique for a budget."""

    kind: EntryKind
    cause: str
    created: datetime
    caller: Caller = NO_CALLER
    order_id: UUID | None = None
    reservation_id: UUID | None = None
    note: str = ""


def write_entries(*, postings: Sequence[Posting], reason: Reason) -> None:
    """Writes at most one posting for each period."""
    parameters = {
        "budgets": [posting.budget_id for posting in postings],
        "periods": [posting.period_id for posting in postings],
        "amounts": [posting.amount for posting in postings],
        **reason_parameters(reason),
    }
    execute(WRITE, parameters)


def reason_parameters(reason: Reason) -> dict[str, Any]:
    """The parameters of a statement that writes entries."""
    return {
        "kind": reason.kind.value,
        "cause": reason.cause,
        "order": reason.order_id,
        "reservation": reason.reservation_id,
        "actor_user": reason.caller.user_id,
        "actor_application": reason.caller.application_id,
        "note": reason.note,
        "created": reason.created,
    }


def open_period(standing: Standing, *, moment: datetime) -> None:
    """Writes the period of a locked budget if it is not written yet, with what is carried over to it."""
    period = standing.period
    if period.pk is not None:
        return
    row = fetch_row(NEW_PERIOD, (standing.budget.pk, period.number, period.starts, period.ends))
    period.pk = row[0] if row else None
    if period.added:
        reason = Reason(EntryKind.CARRY_OVER, f"carry-over:{period.number}", moment)
        write_entries(postings=[Posting(standing.budget.pk, period.pk, period.added)], reason=reason)


def lock_standing(budget: Budget, *, store: Store, moment: datetime) -> Standing:
    """The budget as it is now, locked, in its present period."""
    locked = Budget.objects.select_for_update(of=("self",), no_key=True).get(pk=budget.pk)
    locked.store = store
    [standing] = standings_of([locked], store=store, moment=moment)
    return standing


@transaction.atomic
def check_balances() -> int:
    """Marks and logs each period whose balance is not the sum of its entries; returns how many there are."""
    count = 0
    with connection.cursor() as cursor:
        cursor.execute(COMPARE)
        for pk, budget_id, starts, is_marked, added, entries_added, used, entries_used in cursor.fetchall():
            differs = (added, used) != (entries_added, entries_used)
            count += differs
            if differs != is_marked:
                cursor.execute(MARK, [differs, pk])
            if differs:
                logger.error(
                    "The balance of a budget differs from its entries",
                    extra={
                        "budget": str(budget_id),
                        "period": starts.isoformat(),
                        "added": str(added),
                        "entries_added": str(entries_added),
                        "used": str(used),
                        "entries_used": str(entries_used),
                    },
                )
    return count
