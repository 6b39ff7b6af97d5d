"""The limit and use of a budget in a period, and its decision on an order; no database access."""

import calendar
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Protocol
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import models
from django.utils.formats import number_format
from django.utils.translation import ngettext

from fulfillment.core.text import timestamp
from stores.budgets.models import Budget, BudgetLevel, OverBudget
from stores.catalog.models.store import BudgetDuration, BudgetType, Store

WEEK = 7
MONTHS = {BudgetDuration.MONTHLY: 1, BudgetDuration.QUARTERLY: 3, BudgetDuration.YEARLY: 12}
ZERO = Decimal("0.00")
# The limit of a period, with adjustments and what is carried over; columns hold ten times as much.
MAX_LIMIT = Decimal(10) ** 13


def period_number(duration: str, start: date, day: date) -> int:
    """The number of the period that holds `day`; the period of `start` has number 0."""
    if duration == BudgetDuration.WEEKLY:
        return (day - start).days // WEEK
    months = (day.year - start.year) * 12 + day.month - start.month
    number = months // MONTHS[BudgetDuration(duration)]
    return number if first_day(duration, start, number) <= day else number - 1


def first_day(duration: str, start: date, number: int) -> date:
    """The first day of a period; in a month without the day of `start` it is the last day."""
    if duration == BudgetDuration.WEEKLY:
        return start + timedelta(days=WEEK * number)
    years, month = divmod(start.month - 1 + number * MONTHS[BudgetDuration(duration)], 12)
    year = start.year + years
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(start.day, last))


def start_of_day(day: date, time_zone: str) -> datetime:
    """The first moment of a day, also where the clock is changed at midnight."""
    return datetime.combine(day, time.min, ZoneInfo(time_zone)).astimezone(UTC)


def period_bounds(duration: str, start: date, number: int, time_zone: str) -> tuple[datetime, datetime]:
    first, following = first_day(duration, start, number), first_day(duration, start, number + 1)
    return start_of_day(first, time_zone), start_of_day(following, time_zone)


class BudgetDecision(models.TextChoices):
    """The decisions from the mildest to the strictest; the strictest decision of any budget is that of all."""

    ALLOWED = "Allowed"
    WARNED = "Warned"
    NEEDS_APPROVAL = "NeedsApproval"
    REFUSED = "Refused"


DECISIONS = {
    OverBudget.WARN: BudgetDecision.WARNED,
    OverBudget.APPROVE: BudgetDecision.NEEDS_APPROVAL,
    OverBudget.REFUSE: BudgetDecision.REFUSED,
}


class Countable(Protocol):
    """What budgets need to know of an order."""

    pk: UUID
    store: Store
    user_id: UUID | None
    application_id: UUID | None
    is_test: bool
    total: Decimal
    total_quantity: int
    created: datetime


@dataclass(slots=True)
class Period:
    """A period as stored or, without `pk`, as it is made when it is first needed."""

    pk: int | None
    number: int
    starts: datetime
    ends: datetime
    added: Decimal
    used: Decimal
    level: int = BudgetLevel.NONE


@dataclass(frozen=True, slots=True)
class Standing:
    budget: Budget
    period: Period

    @property
    def limit(self) -> Decimal:
        return self.budget.limit + self.period.added

    @property
    def remaining(self) -> Decimal:
        return self.limit - self.period.used

    @property
    def first_day(self) -> date:
        return first_day(self.budget.duration, self.budget.start_date, self.period.number)

    @property
    def last_day(self) -> date:
        """The last day that counts, for people. The moment `period.ends` belongs to the next period."""
        following = first_day(self.budget.duration, self.budget.start_date, self.period.number + 1)
        last = following - timedelta(days=1)
        return min(last, self.budget.end_date or last)

    @property
    def amounts(self) -> dict[str, float | int]:
        """The limit and how much of it is used, as members of records."""
        amounts = {"Limit": self.limit, "Used": self.period.used, "Remaining": self.remaining}
        return {name: number(self.budget.type, value) for name, value in amounts.items()}

    def decide(self, requested: Decimal) -> BudgetDecision:
        if not requested or requested <= self.remaining:
            return BudgetDecision.ALLOWED
        return DECISIONS[OverBudget(self.budget.over_budget)]

    @property
    def level(self) -> BudgetLevel:
        used, limit = self.period.used, self.limit
        if not used:
            return BudgetLevel.NONE
        if used >= limit:
            return BudgetLevel.EXCEEDED
        return BudgetLevel.WARNED if used * 100 >= limit * self.budget.warn_at else BudgetLevel.NONE

    def text(self, value: Decimal) -> str:
        """A value in the measure of the budget, for people."""
        if self.budget.type == BudgetType.AMOUNT:
            return f"{number_format(value, 2, force_grouping=True)} {self.budget.currency}"
        count = int(value)
        if self.budget.type == BudgetType.ORDERS:
            words = ngettext("%(count)s order", "%(count)s orders", count)
        else:
            words = ngettext("%(count)s piece", "%(count)s pieces", count)
        return words % {"count": number_format(count, force_grouping=True)}


def number(budget_type: str, value: Decimal) -> float | int:
    """A value in the measure of a budget, for JSON."""
    return float(value) if budget_type == BudgetType.AMOUNT else int(value)


def measure(budget_type: str, *, total: Decimal, quantity: int, orders: int = 1) -> Decimal:
    """What an order, or a batch of `orders`, takes from a budget of this type."""
    if budget_type == BudgetType.AMOUNT:
        return total
    return Decimal(orders if budget_type == BudgetType.ORDERS else quantity)


def decision_of(
    standings: Iterable[Standing], *, total: Decimal, quantity: int, orders: int = 1
) -> BudgetDecision:
    """The strictest decision of the budgets on an order, or on a batch of `orders`."""
    severities = list(BudgetDecision)
    decisions = (
        standing.decide(measure(standing.budget.type, total=total, quantity=quantity, orders=orders))
        for standing in standings
    )
    return max(decisions, key=severities.index, default=BudgetDecision.ALLOWED)


def overdraft_record(standing: Standing, requested: Decimal) -> dict[str, Any]:
    """A budget that an order would exceed, in `Budgets` of a refusal and in the reasons of an approval."""
    return {
        "Kind": "Budget",
        "BudgetID": str(standing.budget.pk),
        "Name": standing.budget.name,
        "Type": standing.budget.type,
        **standing.amounts,
        "Requested": number(standing.budget.type, requested),
        "PeriodEnd": timestamp(standing.period.ends),
    }
