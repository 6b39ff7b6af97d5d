"""Ten years of periods in five time zones, with both changes of the clock."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.budgets.standings import first_day, period_bounds, period_number, start_of_day
from stores.catalog.models.store import BudgetDuration

# The clock changes at midnight in Havana and Beirut, at 2 or 3 o'clock elsewhere; Kiritimati is 14 hours ahead.
ZONES = ["America/Denver", "America/Havana", "Asia/Beirut", "Australia/Lord_Howe", "Pacific/Kiritimati"]
STARTS = [date(2020, 1, 31), date(2020, 2, 29), date(2021, 3, 14), date(2020, 12, 31)]
TEN_YEARS = 3653
DURATIONS = st.sampled_from(BudgetDuration.values)
DAYS = st.dates(date(2000, 1, 1), date(2199, 12, 31))


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("duration", BudgetDuration.values)
def test_ten_years_of_periods_follow_each_other_without_gap_or_overlap(zone, start, duration):
    last = period_number(duration, start, start + timedelta(days=TEN_YEARS))
    bounds = [period_bounds(duration, start, number, zone) for number in range(last + 1)]

    assert bounds[0][0] == start_of_day(start, zone)
    assert all(begins < ends for begins, ends in bounds)
    assert [ends for _, ends in bounds[:-1]] == [begins for begins, _ in bounds[1:]]
    for number, (begins, ends) in enumerate(bounds):
        assert _number_at(begins, duration, start, zone) == number
        assert _number_at(ends - timedelta(microseconds=1), duration, start, zone) == number


def _number_at(moment, duration, start, zone):
    return period_number(duration, start, moment.astimezone(ZoneInfo(zone)).date())


@given(DURATIONS, DAYS, DAYS)
def test_every_day_lies_in_the_period_of_its_number(duration, one, other):
    start, day = sorted((one, other))
    number = period_number(duration, start, day)

    assert number >= 0
    assert first_day(duration, start, number) <= day < first_day(duration, start, number + 1)


@given(DURATIONS, DAYS)
def test_first_period_begins_on_the_start_date(duration, start):
    assert (period_number(duration, start, start), first_day(duration, start, 0)) == (0, start)


@pytest.mark.parametrize(
    ("duration", "start", "number", "day"),
    [
        ("Monthly", date(2024, 1, 31), 1, date(2024, 2, 29)),
        ("Monthly", date(2024, 1, 31), 2, date(2024, 3, 31)),
        ("Monthly", date(2024, 1, 31), 3, date(2024, 4, 30)),
        ("Monthly", date(2023, 1, 31), 1, date(2023, 2, 28)),
        ("Quarterly", date(2023, 11, 30), 1, date(2024, 2, 29)),
        ("Yearly", date(2024, 2, 29), 1, date(2025, 2, 28)),
        ("Yearly", date(2024, 2, 29), 4, date(2028, 2, 29)),
        ("Weekly", date(2024, 12, 31), 1, date(2025, 1, 7)),
    ],
)
def test_month_without_the_day_begins_on_its_last_day(duration, start, number, day):
    assert first_day(duration, start, number) == day
    assert period_number(duration, start, day) == number
    assert period_number(duration, start, day - timedelta(days=1)) == number - 1


def test_periods_are_as_long_as_the_clock_makes_them():
    """The weeks in which Denver's clock is changed have 167 and 169 hours."""
    hours = [
        (ends - begins) / timedelta(hours=1)
        for begins, ends in (
            period_bounds("Weekly", start, 0, "America/Denver")
            for start in (date(2025, 3, 8), date(2025, 7, 5), date(2025, 11, 1))
        )
    ]
    assert hours == [167, 168, 169]


def test_day_without_midnight_begins_when_the_clock_is_changed():
    """In Beirut the clock goes from 23:59:59 to 1:00 on 30 March 2025."""
    assert start_of_day(date(2025, 3, 30), "Asia/Beirut") == datetime(2025, 3, 29, 22, tzinfo=UTC)
