"""Dates of delivery: Monday to Friday, in the store's own time zone. Public holidays are not taken into account."""

import re
from datetime import date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

SATURDAY = 5
DEFAULT_TRANSIT = (3, 7)
TRANSIT = {"PICKUP": (0, 0), "OVERNIGHT": (1, 1), "TWO_DAY": (2, 2), "GROUND": (3, 5), "USPS_EDDM": (5, 9)}
_PROMISED_DAYS = re.compile(
    r"(\d{1,2})(?:\s*(?:[-\u2013\u2014]|to)\s*(\d{1,2}))?\s+business\s+days?", re.IGNORECASE
)
_NEXT_DAY = re.compile(r"next\s+business\s+day", re.IGNORECASE)


def add_business_days(start: date, days: int) -> date:
    """The date `days` business days after `start`; a start on a weekend counts as the Friday before it."""
    start -= timedelta(days=max(0, start.weekday() - SATURDAY + 1))
    weeks, rest = divmod(days, 5)
    end = start + timedelta(weeks=weeks, days=rest)
    return end + timedelta(days=2) if start.weekday() + rest >= SATURDAY else end


@cache
def transit_days(delivery_method_code: str, description: str) -> tuple[int, int]:
    """Minimum and maximum business days of transit: from the price's description, else the defaults."""
    if text := _PROMISED_DAYS.search(description):
        least = int(text[1])
        return least, max(least, int(text[2] or least))
    if _NEXT_DAY.search(description):
        return 1, 1
    return TRANSIT.get(delivery_method_code, DEFAULT_TRANSIT)


def local_date(moment: datetime, time_zone: str) -> date:
    return moment.astimezone(ZoneInfo(time_zone)).date()
