"""Dates of production and delivery: Monday to Friday, in the store's own time zone.

Mailings leave out the federal holidays of the United States, on which post offices are closed; other orders know no
public holidays.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from stores.orders.models import Order

MONDAY, THURSDAY, SATURDAY, SUNDAY = 0, 3, 5, 6
# New Year, Juneteenth, Independence Day, Veterans Day, Christmas.
FIXED_HOLIDAYS = ((1, 1), (6, 19), (7, 4), (11, 11), (12, 25))
# Martin Luther King, Washington, Memorial Day (the last Monday), Labor Day, Columbus Day, Thanksgiving.
FLOATING_HOLIDAYS = (
    (1, MONDAY, 3),
    (2, MONDAY, 3),
    (5, MONDAY, 5),
    (9, MONDAY, 1),
    (10, MONDAY, 2),
    (11, THURSDAY, 4),
)
DEFAULT_TRANSIT = (3, 7)
TRANSIT = {"PICKUP": (0, 0), "OVERNIGHT": (1, 1), "TWO_DAY": (2, 2), "GROUND": (3, 5), "USPS_EDDM": (5, 9)}
_PROMISED_DAYS = re.compile(
    r"(\d{1,2})(?:\s*(?:[-\u2013\u2014]|to)\s*(\d{1,2}))?\s+business\s+days?", re.IGNORECASE
)
_NEXT_DAY = re.compile(r"next\s+business\s+day", re.IGNORECASE)


def add_business_days(start: date, days: int) -> date:
    """The date `days` business days after `start`; a start on a weekend counts as the Friday before it."""
    start -= timedelta(days=max(0, start.weekday() - SATURDAY + 1))
    weeks, days_left = divmod(days, 5)
    end = start + timedelta(weeks=weeks, days=days_left)
    return end + timedelta(days=2) if start.weekday() + days_left >= SATURDAY else end


def add_post_days(start: date, days: int) -> date:
    """Adds business days without federal holidays; a start on one counts as the business day before it."""
    day = add_business_days(start, 0)
    while day in federal_holidays(day.year):
        day -= timedelta(days=1 if day.weekday() else 3)
    for _ in range(days):
        day = add_business_days(day, 1)
        while day in federal_holidays(day.year):
            day = add_business_days(day, 1)
    return day


@cache
def federal_holidays(year: int) -> frozenset[date]:
    """The eleven holidays (5 U.S.C. 6103), one on a Sunday on its Monday. Post offices are open on the Friday before a
    holiday on a Saturday."""
    fixed = [date(year, month, day) for month, day in FIXED_HOLIDAYS]
    observed = {day + timedelta(days=day.weekday() == SUNDAY) for day in fixed}
    return frozenset(observed | {_weekday_of(year, *rule) for rule in FLOATING_HOLIDAYS})


def _weekday_of(year: int, month: int, weekday: int, number: int) -> date:
    """The weekday with this number in a month; 5 is the last one of May, which has 31 days."""
    first = date(year, month, 1)
    day = first + timedelta(days=(weekday - first.weekday()) % 7, weeks=number - 1)
    return day if day.month == month else day - timedelta(weeks=1)


def ship_day(order: Order, *, is_mailing: bool) -> date:
    """The day by which production ends and the pieces leave the shop."""
    # Not `Store.local_date`: a migration calls this with its own models, which have no methods.
    start = order.created.astimezone(ZoneInfo(order.store.time_zone)).date()
    return (add_post_days if is_mailing else add_business_days)(start, order.production_days)


@lru_cache(maxsize=4096)
def transit_days(delivery_method_code: str, description: str) -> tuple[int, int]:
    """Minimum and maximum business days of transit: from the price's description, else the defaults."""
    if text := _PROMISED_DAYS.search(description):
        least = int(text[1])
        return least, max(least, int(text[2] or least))
    if _NEXT_DAY.search(description):
        return 1, 1
    return TRANSIT.get(delivery_method_code, DEFAULT_TRANSIT)
