import threading

import pytest
from django.db import connection

from accounts.secrets import decrypt, digests
from applications.models import Application, ApplicationKey
from applications.services.keys import add_key, end_key, regenerate_key
from fulfillment.errors import DomainError, NotFound
from tests.world import build_world


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
