"""Who may send at the moment: places of all, of one application, of endpoints that have not answered well yet."""

import uuid
from dataclasses import replace

import pytest

from applications.webhooks.sending.slots import ConnectionSlots
from applications.webhooks.services.delivery_attempts import ClaimedDelivery

ONE, TWO, HOOK, OTHER = (uuid.uuid4() for _ in range(4))
PERSON = uuid.uuid4()
TAKEN = ClaimedDelivery(0, 1, HOOK, ONE, "https://print.example", False, (), uuid.uuid4(), b"")


@pytest.fixture
def slots():
    return ConnectionSlots(limit=60, share=10)


def taken(count, start=0, **changes):
    return [replace(TAKEN, delivery_id=start + number, **changes) for number in range(count)]


def reserve(slots, count, webhook_id, application_id, person_id=None):
    """By default each application is of another person."""
    person_id = person_id or application_id
    return slots.reserve(count, webhook_id=webhook_id, application_id=application_id, person_id=person_id)


def test_application_gets_its_share_and_no_more(slots):
    first = reserve(slots, 16, HOOK, ONE)
    slots.assign(first, taken(first.count))

    assert first.count == 10
    assert reserve(slots, 16, OTHER, ONE).count == 0
    assert reserve(slots, 16, OTHER, TWO).count == 10


def test_reservations_of_several_webhooks_at_once_count_as_well(slots):
    """One poll reserves for all webhooks of an application before it has claimed for any."""
    first = reserve(slots, 6, HOOK, ONE)
    second = reserve(slots, 6, OTHER, ONE)
    slots.assign(first, taken(2))

    assert (first.count, second.count) == (6, 4)
    assert reserve(slots, 16, HOOK, ONE).count == 4


def test_applications_of_one_person_leave_half_of_the_places_to_others(slots):
    slots.record_outcome(HOOK, is_good=True)
    counts = [reserve(slots, 10, HOOK, uuid.uuid4(), PERSON).count for _ in range(4)]

    assert counts == [10, 10, 10, 0]
    assert reserve(slots, 10, HOOK, TWO).count == 10


def test_unproven_endpoints_leave_half_of_the_places_to_those_that_answer(slots):
    slots.record_outcome(OTHER, is_good=True)
    for start in range(0, 30, 10):
        application_id = uuid.uuid4()
        reserved = reserve(slots, 10, HOOK, application_id)
        slots.assign(reserved, taken(10, start, application_id=application_id))

    assert reserve(slots, 10, HOOK, TWO).count == 0
    assert reserve(slots, 10, OTHER, TWO).count == 10


def test_endpoint_that_fails_is_unproven_again(slots):
    slots.record_outcome(HOOK, is_good=True)
    slots.record_outcome(HOOK, is_good=False)
    reserved = reserve(slots, 10, HOOK, ONE)

    assert not reserved.is_proven


def test_reservations_at_once_never_exceed_the_limit(slots):
    for hook in (HOOK, OTHER):
        slots.record_outcome(hook, is_good=True)
    counts = [reserve(slots, 10, HOOK, uuid.uuid4()).count for _ in range(8)]

    assert counts == [10] * 6 + [0] * 2


def test_everything_is_restored(slots):
    for _ in range(100):
        reserved = reserve(slots, 10, HOOK, ONE)
        connections = taken(3)
        slots.assign(reserved, connections)
        for attempt in connections:
            slots.release(attempt)

    assert reserve(slots, 16, HOOK, ONE).count == 10
    assert not slots._unproven
