"""One caller's many requests leave the processor to others; the clock is given, not waited for."""

import time

import pytest
from django.db import OperationalError, connection, transaction

from fulfillment.core import processor_share as module
from fulfillment.core.api import viewsets
from fulfillment.core.db.locks import lock_of_its_own, lock_until_commit
from fulfillment.core.db.prepared import execute
from fulfillment.core.errors import TooManyAtOnce
from fulfillment.core.processor_share import AT_ONCE, BURST_SECONDS, OTHERS_SECONDS, ProcessorShare


@pytest.fixture
def share():
    """The caller `busy` has used up what one may use at once, at second 100."""
    processor_share = ProcessorShare()
    processor_share.begin("busy", 100)
    processor_share.end("busy", BURST_SECONDS + 0.1, 100)
    return processor_share


def begin(share: ProcessorShare, count: int, now: float = 100) -> int:
    """How many of these requests are accepted."""
    for number in range(count):
        try:
            share.begin("busy", now)
        except TooManyAtOnce:
            return number
    return count


def test_busy_caller_has_two_requests_at_once_while_others_call(share):
    share.begin("other", 100)

    assert begin(share, 8) == AT_ONCE


def test_caller_alone_has_as_many_as_come(share):
    assert begin(share, 8) == 8
    share.begin("other", 101 - OTHERS_SECONDS)
    assert begin(share, 8) == 0
    assert begin(share, 8, now=101) == 8


def test_caller_who_waited_has_its_share_again(share):
    share.begin("other", 100)

    assert begin(share, 8, now=100.1) == AT_ONCE
    assert begin(share, 8, now=100.3) == 8


def test_other_caller_is_not_held(share):
    for _ in range(8):
        share.begin("other", 100)


def test_debt_of_one_long_request_ends_soon(share):
    share.begin("busy", 100)
    share.end("busy", 60, 100)
    share.begin("other", 101)

    assert begin(share, 8, now=101.9) == AT_ONCE
    assert begin(share, 8, now=102.1) == 8


def test_callers_in_progress_are_remembered_among_many(share, monkeypatch):
    monkeypatch.setattr(module, "MAX_CALLERS", 3)
    share.begin("long", 100)
    for number in range(20):
        share.begin(f"caller {number}", 100)
        share.end(f"caller {number}", 0.01, 100)
    share.end("long", 1, 100)

    assert begin(share, 8) == 8


@pytest.mark.django_db
@pytest.mark.parametrize("is_prepared", [True, False])
def test_time_of_long_statements_counts(is_prepared):
    share = ProcessorShare()
    with share.shared("busy"):
        if is_prepared:
            execute("SELECT pg_sleep(0.4)")
        else:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(0.4)")

    assert share._uses["busy"].left < BURST_SECONDS - 0.25


@pytest.mark.django_db
def test_short_statements_do_not_count():
    share = ProcessorShare()
    with share.shared("busy"):
        for _ in range(10):
            execute("SELECT pg_sleep(0.03)")

    assert share._uses["busy"].left > BURST_SECONDS - 0.2


@pytest.mark.django_db(transaction=True)
def test_wait_for_an_advisory_lock_does_not_count():
    """Orders of many wait for each other at a busy store."""
    share = ProcessorShare()
    with lock_of_its_own(4711), share.shared("busy"), transaction.atomic():
        execute("SET LOCAL lock_timeout = 500")
        with pytest.raises(OperationalError), transaction.atomic():
            lock_until_commit(4711)

    assert share._uses["busy"].left > BURST_SECONDS - 0.2


def test_requests_of_the_api_are_counted_and_refused_with_the_reason(world, monkeypatch):
    share = ProcessorShare()
    monkeypatch.setattr(viewsets, "processor_share", share)
    client = world.as_user(world.outsider)
    assert client.get("/api/v1/store").status_code == 200
    ((key, use),) = share._uses.items()
    assert use.left < BURST_SECONDS
    assert use.in_progress == 0

    use.left = -BURST_SECONDS
    share.begin("other", time.monotonic())
    for _ in range(AT_ONCE):
        assert client.get("/api/v1/store").status_code == 200
        share.begin(key, time.monotonic())
    refused = client.get("/api/v1/store")

    assert (refused.status_code, refused["Retry-After"]) == (429, "2")
    assert refused.json()["Code"] == "too_many_at_once"
    assert "than one caller may use while others call" in refused.json()["detail"]
    assert use.in_progress == AT_ONCE
