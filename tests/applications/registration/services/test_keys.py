import threading
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from applications.registration.models import Application, ApplicationKey
from applications.registration.services.keys import add_key, change_key_dates, end_key, regenerate_key
from fulfillment.core.errors import Conflict, DomainError, Invalid, NotFound
from fulfillment.core.secrets import decrypt, digests
from tests.support.scenario import build_world


def at_once(count, work):
    barrier, outcomes = threading.Barrier(count), []

    def run():
        barrier.wait()
        try:
            outcomes.append(work())
        except DomainError as error:
            outcomes.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return outcomes


@pytest.mark.django_db(transaction=True)
def test_key_regenerated_at_once_has_one_successor():
    application = build_world().application
    for _ in range(5):
        old = application.keys.get()

        outcomes = at_once(8, lambda key=old: regenerate_key(application=application, key_id=key.pk))

        assert len([o for o in outcomes if isinstance(o, ApplicationKey)]) == 1
        assert len([o for o in outcomes if isinstance(o, NotFound)]) == 7
        assert application.keys.count() == 1


@pytest.mark.django_db(transaction=True)
def test_keys_added_at_once_stay_within_the_limit():
    application = build_world().application

    at_once(16, lambda: add_key(application=application))

    assert application.keys.count() == 10


def test_key_value_is_found_by_digest_and_stored_nowhere_in_clear(world):
    key = add_key(application=world.application, value="sfk_a-known-value-for-this-test")

    stored = ApplicationKey.objects.filter(pk=key.pk).values_list("digest", "ciphertext").get()
    assert stored[0] in digests("sfk_a-known-value-for-this-test")
    assert b"known-value" not in bytes(stored[1])


def test_key_is_still_known_after_the_pepper_changed(world, settings):
    key = add_key(application=world.application, value="sfk_a-known-value-for-this-test")

    settings.PEPPERS = ["a-newer-pepper-that-is-long-enough-for-all", *settings.PEPPERS]
    settings.ENCRYPTION_KEYS = ["a-newer-key-that-is-long-enough-for-everyone", *settings.ENCRYPTION_KEYS]

    assert key.digest in digests("sfk_a-known-value-for-this-test")
    assert decrypt(key.ciphertext) == "sfk_a-known-value-for-this-test"


def test_first_key_makes_the_client_confidential(world):
    application = world.other_application
    application.keys.all().delete()
    Application.objects.filter(pk=application.pk).update(client_type=Application.CLIENT_PUBLIC)
    application.refresh_from_db()

    add_key(application=application)

    application.refresh_from_db()
    assert application.client_type == Application.CLIENT_CONFIDENTIAL


def test_ended_key_stays_on_record(world):
    key = world.application.keys.get()

    ended = end_key(application=world.application, key_id=key.pk)

    assert ended.end_date < key.end_date
    assert end_key(application=world.application, key_id=key.pk).end_date == ended.end_date


def test_key_is_valid_from_now_for_a_year_unless_set_otherwise(world):
    before = timezone.now()
    usual = add_key(application=world.application)
    start, end = before + timedelta(days=3), before + timedelta(days=5)
    reported = add_key(application=world.application, start_date=start, end_date=end)
    begun = add_key(application=world.application, start_date=start)

    assert before <= usual.start_date <= timezone.now()
    assert usual.end_date - usual.start_date == timedelta(days=365)
    assert (reported.start_date, reported.end_date) == (start, end)
    assert begun.end_date == start + timedelta(days=365)
    assert decrypt(usual.ciphertext).startswith("sfk_")
    assert {key.application for key in (usual, reported, begun)} == {world.application}


def test_key_ends_after_it_begins(world):
    now = timezone.now()
    for end in (now, now - timedelta(seconds=1)):
        with pytest.raises(Invalid, match=r"^EndDate must be after StartDate\.$") as refused:
            add_key(application=world.application, start_date=now, end_date=end, pointer="/Keys/1")
        assert fault_of(refused) == ("/Keys/1/EndDate", "end_before_start")
    assert world.application.keys.count() == 1


def test_key_that_begins_too_late_for_a_year_is_refused(world):
    with pytest.raises(Invalid, match=r"^StartDate is too late for a key\.$") as refused:
        add_key(application=world.application, start_date=datetime(9999, 6, 1, tzinfo=UTC), pointer="/Keys/0")

    assert fault_of(refused) == ("/Keys/0/StartDate", "start_too_late")


def test_eleventh_key_is_refused(world):
    for _ in range(9):
        add_key(application=world.application)

    with pytest.raises(Invalid, match=r"^An application has at most 10 keys\.$") as refused:
        add_key(application=world.application, pointer="/Keys/10")

    assert fault_of(refused) == ("/Keys/10", "too_many_keys")
    assert world.application.keys.count() == 10
    assert add_key(application=world.other_application)


def test_key_that_ended_first_makes_room_for_a_new_one(world):
    first = world.application.keys.get()
    added = [add_key(application=world.application) for _ in range(9)]
    for key in (added[3], first):
        end_key(application=world.application, key_id=key.pk)

    newest = add_key(application=world.application)

    left = set(world.application.keys.values_list("pk", flat=True))
    assert left == {newest.pk, first.pk, *(key.pk for key in added)} - {added[3].pk}


def test_dates_change_alone_or_together(world):
    key = world.application.keys.get()
    start, end = key.start_date, key.end_date
    later, earlier = end + timedelta(days=9), start - timedelta(days=9)

    def change(**dates):
        change_key_dates(application=world.application, key_id=str(key.pk), **dates)
        key.refresh_from_db()
        return key.start_date, key.end_date

    assert change() == (start, end)
    assert change(end_date=later) == (start, later)
    assert change(start_date=earlier) == (earlier, later)
    assert change(start_date=start, end_date=end) == (start, end)
    with pytest.raises(Invalid) as refused:
        change_key_dates(application=world.application, key_id=key.pk, end_date=start, pointer="/Keys/0")
    assert fault_of(refused) == ("/Keys/0/EndDate", "end_before_start")
    key.refresh_from_db()
    assert key.end_date == end


@pytest.mark.parametrize("act", [change_key_dates, end_key, regenerate_key])
def test_key_of_another_application_or_none_is_not_found(world, act):
    for key_id in (world.other_application.keys.get().pk, "nonsense", None):
        with pytest.raises(NotFound, match=r"^The application has no key with this ID\.$") as refused:
            act(application=world.application, key_id=key_id)
        assert refused.value.code == "key_not_found"


def test_key_is_ended_now_and_only_once_it_has_begun(world):
    now = timezone.now()
    coming = add_key(application=world.application, start_date=now + timedelta(hours=1))
    with pytest.raises(Conflict, match=r"^The key is not valid yet\. Change its dates instead\.$") as refused:
        end_key(application=world.application, key_id=coming.pk)
    assert refused.value.code == "key_not_begun"
    with time_machine.travel(coming.start_date, tick=False), pytest.raises(Conflict):
        end_key(application=world.application, key_id=coming.pk)
    key = world.application.keys.order_by("start_date").first()

    end_key(application=world.application, key_id=key.pk)

    key.refresh_from_db()
    assert now <= key.end_date <= timezone.now()


def test_key_that_has_ended_is_not_renewed(world):
    key = world.application.keys.get()
    with (
        time_machine.travel(key.end_date, tick=False),
        pytest.raises(Conflict, match=r"^The key has ended; add a new key instead\.$") as refused,
    ):
        regenerate_key(application=world.application, key_id=key.pk)
    assert refused.value.code == "key_ended"

    with time_machine.travel(key.end_date - timedelta(microseconds=1), tick=False):
        new = regenerate_key(application=world.application, key_id=key.pk)
    assert (new.start_date, new.end_date, new.digest != key.digest) == (key.start_date, key.end_date, True)


def test_client_that_is_confidential_is_not_written_again(world):
    before = Application.objects.get(pk=world.application.pk).updated

    add_key(application=world.application)

    assert Application.objects.get(pk=world.application.pk).updated == before


def fault_of(refused) -> tuple[str, str]:
    (fault,) = refused.value.faults
    return fault.pointer, fault.code
