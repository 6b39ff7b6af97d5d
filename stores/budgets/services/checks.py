"""Compares the balances of periods with the entries of the ledger, and repairs nothing."""

import logging

from django.db import connection, transaction

logger = logging.getLogger("fulfillment.budgets")

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


@transaction.atomic
def check_balances() -> int:
    """Marks and logs each period whose balance is not the sum of its entries; returns how many there are."""
    found = 0
    with connection.cursor() as cursor:
        cursor.execute(COMPARE)
        for pk, budget_id, starts, is_marked, added, entries_added, used, entries_used in cursor.fetchall():
            differs = (added, used) != (entries_added, entries_used)
            found += differs
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
    return found
