"""Who may send at the moment: places of all, of one application, of endpoints that have not answered well yet."""

import uuid
from dataclasses import replace

import pytest

from applications.webhooks.sending.connection_limits import ConnectionSlots
from applications.webhooks.services.delivery_attempts import ClaimedDelivery

ONE, TWO, HOOK, OTHER = (uuid.uuid4() for _ in range(4))
TAKEN = ClaimedDelivery(0, 1, HOOK, ONE, "https://print.example", False, (), uuid.uuid4(), b"")


@pytest.fixture
def slots():
    return ConnectionSlots(limit=60, share=10)


def taken(count, start=0, **changes):
    return [replace(TAKEN, delivery_id=start + number, **changes) for number in range(count)]


def test_application_gets_its_share_and_no_more(slots):
    first = slots.reserve(16, webhook_id=HOOK, application_id=ONE)
    slots.assign(first, taken(first.count))

    assert first.count == 10
    assert slots.reserve(16, webhook_id=OTHER, application_id=ONE).count == 0
    assert slots.reserve(16, webhook_id=OTHER, application_id=TWO).count == 10


def test_unproven_endpoints_leave_half_of_the_places_to_those_that_answer(slots):
    slots.record_outcome(OTHER, is_good=True)
    for start in range(0, 30, 10):
        application_id = uuid.uuid4()
        reserved = slots.reserve(10, webhook_id=HOOK, application_id=application_id)
        slots.assign(reserved, taken(10, start, application_id=application_id))

    assert slots.reserve(10, webhook_id=HOOK, application_id=TWO).count == 0
    assert slots.reserve(10, webhook_id=OTHER, application_id=TWO).count == 10


def test_endpoint_that_fails_is_unproven_again(slots):
    slots.record_outcome(HOOK, is_good=True)
    slots.record_outcome(HOOK, is_good=False)
    reserved = slots.reserve(10, webhook_id=HOOK, application_id=ONE)

    assert not reserved.is_proven


def test_reservations_at_once_never_exceed_the_limit(slots):
    for hook in (HOOK, OTHER):
        slots.record_outcome(hook, is_good=True)
    counts = [slots.reserve(10, webhook_id=HOOK, application_id=uuid.uuid4()).count for _ in range(8)]

    assert counts == [10] * 6 + [0] * 2


def test_everything_is_restored(slots):
    for _ in range(100):
        reserved = slots.reserve(10, webhook_id=HOOK, application_id=ONE)
        found = taken(3)
        slots.assign(reserved, found)
        for one in found:
            slots.release(one)

    assert slots.reserve(16, webhook_id=HOOK, application_id=ONE).count == 10
    assert not slots._unproven
