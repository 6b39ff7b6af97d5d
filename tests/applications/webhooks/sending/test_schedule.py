from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from applications.webhooks.services.delivery_attempts import MAX_TRIES, next_try, parse_retry_after

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOURS = timedelta(hours=1)
DELAYS = [
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(hours * HOURS for hours in (2, 5, 10, 14, 20, 24)),
]


@pytest.mark.parametrize(("tries", "delay"), list(enumerate(DELAYS, start=1)))
def test_attempts_follow_the_schedule_with_jitter(tries, delay):
    delays = [next_try(tries=tries, now=NOW) - NOW for _ in range(200)]

    assert all(delay * 0.9 <= jittered <= delay * 1.1 for jittered in delays)
    assert len(set(delays)) > 100


def test_tenth_attempt_is_the_last():
    assert MAX_TRIES == 10
    assert next_try(tries=10, now=NOW) is None
    assert next_try(tries=11, now=NOW) is None


def test_retry_after_is_honoured_up_to_a_day_and_never_hastens():
    assert next_try(tries=1, now=NOW, retry_after=timedelta(minutes=7)) == NOW + timedelta(minutes=7)
    assert next_try(tries=1, now=NOW, retry_after=timedelta(days=400)) == NOW + timedelta(days=1)
    assert next_try(tries=2, now=NOW, retry_after=timedelta(0)) >= NOW + timedelta(minutes=4)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", timedelta(seconds=120)),
        (" 7 ", timedelta(seconds=7)),
        (format_datetime(NOW + HOURS, usegmt=True), HOURS),
        (format_datetime(NOW - HOURS, usegmt=True), timedelta(0)),
        ("9" * 400, 24 * HOURS),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("\u0661\u0662", None),
        ("Mon, 99 Foo 2026 00:00:00 GMT", None),
        ("Sun, 01 Mar 2026 12:00:00", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value, wait):
    assert parse_retry_after(value, now=NOW) == wait
