import threading
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine
from django.db import OperationalError, connection

from applications.registration.models import DailyUsage
from applications.registration.selectors.request_log import daily_totals, daily_usage, today
from applications.registration.services import usage
from applications.registration.services.usage import count_call, flush_usage
from tests.factories.applications import ApplicationFactory
from tests.support.costs import calls


@pytest.fixture(autouse=True)
def nothing_counted():
    usage._counts.clear()
    yield
    usage._counts.clear()


@pytest.fixture
def application(db):
    return ApplicationFactory()


def figures(row: DailyUsage) -> tuple[int, int, int]:
    return row.calls, row.client_errors, row.server_errors


def test_calls_are_counted_by_application_day_and_kind_of_answer(application):
    other = ApplicationFactory()
    for status in (200, 201, 304, 400, 404, 429, 503):
        count_call(application_id=application.pk, status=status)
    count_call(application_id=other.pk, status=200)

    assert flush_usage() == 8

    rows = {row.application_id: row for row in daily_usage()}
    assert figures(rows[application.pk]) == (7, 3, 1)
    assert figures(rows[other.pk]) == (1, 0, 0)
    assert rows[other.pk].day == datetime.now(UTC).date()


def test_later_counts_are_added_and_nothing_is_added_twice(application):
    for _ in range(2):
        count_call(application_id=application.pk, status=200)
        flush_usage()

    assert flush_usage() == 0
    assert figures(daily_usage()[0]) == (2, 0, 0)


def test_totals_add_up_days_of_all_applications(application):
    other = ApplicationFactory()
    days = [today() - timedelta(days=back) for back in (30, 29, 2, 1, 0)]
    DailyUsage.objects.bulk_create(
        DailyUsage(application=each, day=day, calls=10, client_errors=2, server_errors=1)
        for each in (application, other)
        for day in days
    )

    assert daily_totals() == [(day, 20, 4, 2) for day in days[1:]]


def test_day_ends_at_midnight_utc(application):
    with time_machine.travel(datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC), tick=False) as clock:
        count_call(application_id=application.pk, status=200)
        clock.shift(timedelta(seconds=1))
        count_call(application_id=application.pk, status=200)
        flush_usage()

        assert [row.day for row in daily_usage()] == [date(2026, 3, 1), date(2026, 3, 2)]


def test_selector_returns_the_days_and_applications_requested(application):
    other = ApplicationFactory()
    today = datetime.now(UTC).date()
    DailyUsage.objects.bulk_create(
        DailyUsage(
            application=owner, day=today - timedelta(days=age), calls=1, client_errors=0, server_errors=0
        )
        for owner in (application, other)
        for age in (0, 6, 7)
    )

    assert len(daily_usage()) == 6
    assert [row.day for row in daily_usage(application_ids=[other.pk], days=7)] == [
        today - timedelta(days=6),
        today,
    ]
    assert daily_usage(application_ids=[]) == []


def test_counts_survive_a_database_that_is_away(application, monkeypatch):
    count_call(application_id=application.pk, status=200)

    def away():
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", away)
        with pytest.raises(OperationalError):
            flush_usage()
    count_call(application_id=application.pk, status=500)

    assert flush_usage() == 2
    assert figures(daily_usage()[0]) == (2, 0, 1)


def test_calls_of_a_removed_application_do_not_hold_up_the_others(application):
    count_call(application_id=uuid4(), status=200)
    count_call(application_id=application.pk, status=200)
    flush_usage()

    assert [row.application_id for row in daily_usage()] == [application.pk]


@pytest.mark.django_db(transaction=True)
def test_threads_that_count_and_flush_at_once_lose_nothing():
    applications = [ApplicationFactory() for _ in range(3)]

    def work():
        try:
            for turn in range(300):
                for application in applications:
                    count_call(application_id=application.pk, status=200)
                if turn % 50 == 0:
                    flush_usage()
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    flush_usage()

    assert [row.calls for row in daily_usage()] == [1200] * 3


def test_counting_costs_a_few_calls():
    application_id = uuid4()

    assert calls(lambda: count_call(application_id=application_id, status=200)) < 20
