"""What a store knows by itself."""

from datetime import date, datetime

import pytest

from stores.catalog.models import Store


@pytest.mark.parametrize(
    ("time_zone", "day"), [("UTC", 7), ("America/Denver", 6), ("Pacific/Kiritimati", 7), ("Asia/Kolkata", 7)]
)
def test_date_is_that_of_the_stores_time_zone(time_zone, day):
    moment = datetime.fromisoformat("2026-03-07T03:30:00+00:00")

    assert Store(time_zone=time_zone).local_date(moment) == date(2026, 3, day)
