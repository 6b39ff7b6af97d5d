"""UUIDs of version 7."""

from datetime import timedelta
from uuid import UUID, uuid4

import time_machine
from django.utils import timezone

from fulfillment.core.uuid7 import new_uuid7, uuid7_time


def test_uuid_records_when_it_was_made():
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False):
        identifier = new_uuid7()
        assert abs(uuid7_time(identifier) - timezone.now()) < timedelta(milliseconds=2)
    assert identifier.version == 7
    assert new_uuid7() != new_uuid7()


def test_uuid_of_a_given_moment_sorts_before_a_later_one():
    moment = timezone.now() - timedelta(hours=7)
    assert abs(uuid7_time(new_uuid7(moment)) - moment) < timedelta(milliseconds=2)
    assert new_uuid7(moment) < new_uuid7(moment + timedelta(milliseconds=2)) < new_uuid7()


def test_other_uuids_hold_no_time():
    assert uuid7_time(uuid4()) is None
    assert uuid7_time(UUID(int=4 << 76 | 2 << 62)) is None
