"""The periods of a budget: they begin on its start date in the store's time zone, and are half open."""

import calendar
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from stores.catalog.models.store import BudgetDuration

WEEK = 7
MONTHS = {BudgetDuration.MONTHLY: 1, BudgetDuration.QUARTERLY: 3, BudgetDuration.YEARLY: 12}


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


def last_day(duration: str, start: date, number: int) -> date:
    return first_day(duration, start, number + 1) - timedelta(days=1)


def start_of_day(day: date, time_zone: str) -> datetime:
    """The first moment of a day, also where the clock is changed at midnight."""
    return datetime.combine(day, time.min, ZoneInfo(time_zone)).astimezone(UTC)


def period_bounds(duration: str, start: date, number: int, time_zone: str) -> tuple[datetime, datetime]:
    first, following = first_day(duration, start, number), first_day(duration, start, number + 1)
    return start_of_day(first, time_zone), start_of_day(following, time_zone)
