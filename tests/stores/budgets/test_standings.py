"""The levels of a budget at the edge of each, to the cent."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from stores.budgets.models import Budget, BudgetLevel
from stores.budgets.standings import Period, Standing


@pytest.mark.parametrize(
    ("used", "level"),
    [
        ("0.00", BudgetLevel.NONE),
        ("79.99", BudgetLevel.NONE),
        ("80.00", BudgetLevel.WARNED),
        ("99.99", BudgetLevel.WARNED),
        ("100.00", BudgetLevel.EXCEEDED),
    ],
)
def test_level_is_reached_exactly_at_its_share(used, level):
    budget = Budget(type="Amount", duration="Monthly", start_date=date(2026, 1, 1), limit=60, warn_at=80)
    month = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)

    standing = Standing(budget, Period(None, 0, *month, added=Decimal(40), used=Decimal(used)))

    assert standing.level == level
