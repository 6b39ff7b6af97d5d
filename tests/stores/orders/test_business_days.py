from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.orders.business_days import (
    add_business_days,
    add_post_days,
    federal_holidays,
    transit_days,
)

FRIDAY = date(2026, 3, 6)


def walked(start: date, days: int) -> date:
    while start.weekday() > 4:
        start -= timedelta(days=1)
    while days:
        start += timedelta(days=1)
        days -= start.weekday() < 5
    return start


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 400))
def test_business_days_are_counted_like_on_a_calendar(start, days):
    assert add_business_days(start, days) == walked(start, days)


@pytest.mark.parametrize(("days", "day"), [(0, 6), (1, 9), (5, 13), (6, 16)])
def test_weekends_do_not_count(days, day):
    assert add_business_days(FRIDAY, days) == date(2026, 3, day)


def test_federal_holidays_are_the_eleven_of_the_postal_calendar():
    months = [(day.month, day.day) for day in sorted(federal_holidays(2027))]

    assert months == [
        (1, 1), (1, 18), (2, 15), (5, 31), (6, 19), (7, 5), (9, 6), (10, 11), (11, 11), (11, 25), (12, 25),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("start", "days", "day"),
    [
        (date(2026, 11, 23), 3, date(2026, 11, 27)),
        (date(2026, 11, 26), 0, date(2026, 11, 25)),
        (date(2026, 12, 31), 1, date(2027, 1, 4)),
    ],
)
def test_post_days_pass_over_holidays(start, days, day):
    assert add_post_days(start, days) == day


@pytest.mark.parametrize(
    ("code", "description", "expected"),
    [
        ("GROUND", "Ground, 3\u20135 business days", (3, 5)),
        ("GROUND", "Two-day air, 2 business days", (2, 2)),
        ("X", "Overnight, next business day", (1, 1)),
        ("PICKUP", "Pickup at our counter", (0, 0)),
        ("PICKUP", "", (0, 0)),
        ("OVERNIGHT", "", (1, 1)),
        ("TWO_DAY", "", (2, 2)),
        ("GROUND", "", (3, 5)),
        ("USPS_EDDM", "", (5, 9)),
        ("BALLOON", "", (3, 7)),
    ],
)
def test_way_takes_what_the_description_promises(code, description, expected):
    assert transit_days(code, description) == expected


def test_descriptions_do_not_fill_the_memory():
    for number in range(5000):
        transit_days("GROUND", f"Ground {number}")
    assert transit_days.cache_info().currsize < 5000
