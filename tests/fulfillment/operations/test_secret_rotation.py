"""Peppers and encryption keys change while the service answers."""

import threading
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, models

from accounts.models import IdempotentResponse, SubscriptionKey
from accounts.services.subscriptions import create_subscription, regenerate_subscription_key
from applications.registration.models import ApplicationKey
from fulfillment.core.db.locks import exclusive_job
from fulfillment.core.secrets import decrypt, digest, digests, encrypt, is_newest
from fulfillment.operations.secret_rotation import rotate_secrets, stored_secrets
from tests.factories.accounts import UserFactory
from tests.support.accounts.oauth_flows import Party
from tests.support.patience import wait_for
from tests.support.scenario import build_world

NEW_PEPPER = "a-newer-pepper-that-is-long-enough-for-all"
NEW_KEY = "a-newer-key-that-is-long-enough-for-everyone"
STEPS = ["before", "both known", "new written", "after"]
# Columns of bytes that hold no secret.
PLAIN_BYTES = {
    "ArtworkUpload.content",
    "ApplicationIcon.image",
    "ApplicationIcon.central_image",
    "Area.shapes",
    "OfficialForm.content",
    "OutputProfile.content",
    "StoreProfile.logo",
}


@pytest.fixture
def steps(settings):
    """The four settings of a rotation, in their order."""
    old = SimpleNamespace(pepper=settings.PEPPERS[0], key=settings.ENCRYPTION_KEYS[0])

    def take(step):
        settings.PEPPERS, settings.ENCRYPTION_KEYS = {
            "before": ([old.pepper], [old.key]),
            "both known": ([old.pepper, NEW_PEPPER], [old.key, NEW_KEY]),
            "new written": ([NEW_PEPPER, old.pepper], [NEW_KEY, old.key]),
            "after": ([NEW_PEPPER], [NEW_KEY]),
        }[step]

    return take


@pytest.mark.parametrize(("one", "other"), list(pairwise(STEPS)))
def test_processes_one_step_apart_read_what_the_other_writes(steps, one, other):
    """A rolling restart has both at once."""
    for writer, reader in ((one, other), (other, one)):
        steps(writer)
        key_digest, ciphertext = digest("sfk_value"), encrypt("sfk_value")
        steps(reader)
        assert key_digest in digests("sfk_value")
        assert decrypt(ciphertext) == "sfk_value"


def test_after_the_rotation_the_old_values_are_not_needed(world, steps, capsys):
    application_key = decrypt(world.application.keys.get().ciphertext)
    client = world.as_user(world.user)
    client.call("POST", "/application", {"Name": "Once"}, headers={"Idempotency-Key": "once"})
    steps("new written")
    with pytest.raises(CommandError, match="still needed"):
        call_command("rotate_secrets", "--check")
    call_command("rotate_secrets")
    assert "application keys: 3, 3 rotated\n" in capsys.readouterr().out
    call_command("rotate_secrets", "--check")
    output = capsys.readouterr().out
    assert "application keys: 3, 0 under older values\n" in output
    # The erasure of a recipient finds earlier proofs by digests under the pepper of their last use.
    assert "keep older encryption keys 7 days longer, older peppers 45 days" in output

    steps("after")

    assert client.call("GET", "/application").status_code == 200
    assert decrypt(world.application.keys.get().ciphertext) == application_key
    party = Party(world.application, application_key)
    assert party.post("/oauth/token", {"grant_type": "client_credentials"}).status_code == 200
    for key in (*SubscriptionKey.objects.all(), *ApplicationKey.objects.all()):
        assert is_newest(key.ciphertext)
        assert key.digest == digest(decrypt(key.ciphertext))
    assert is_newest(IdempotentResponse.objects.get().body)


def test_kept_responses_are_found_under_both_peppers(world, steps):
    client = world.as_user(world.user)
    body, headers = {"Name": "Once"}, {"Idempotency-Key": "once"}
    first = client.call("POST", "/application", body, headers=headers)
    for step in ("both known", "new written"):
        steps(step)
        again = client.call("POST", "/application", body, headers=headers)
        assert (again.status_code, again.json()["ID"]) == (201, first.json()["ID"])
    call_command("rotate_secrets")
    again = client.call("POST", "/application", body, headers=headers)
    assert again.json()["ID"] == first.json()["ID"]


def test_history_of_keys_says_nothing_of_a_rotation(world, steps):
    events = apps.get_model("accounts", "SubscriptionKeyEvent").objects
    before = events.count()
    steps("new written")

    call_command("rotate_secrets")

    assert events.count() == before


def test_stopped_rotation_is_gone_on_with(world, steps):
    steps("new written")
    seen = []

    def stop(rotated):
        seen.append(rotated.checked)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rotate_secrets(on_progress=stop, batch=2)
    newest = sum(is_newest(key.ciphertext) for key in SubscriptionKey.objects.all())
    assert newest == 4 < SubscriptionKey.objects.count()

    report = rotate_secrets(batch=2)

    assert report[0].rewritten == SubscriptionKey.objects.count() - 4
    assert all(is_newest(key.ciphertext) for key in SubscriptionKey.objects.all())


def test_undecryptable_value_is_named_and_stops_nothing(world, steps):
    lost = world.application.keys.get()
    ApplicationKey.objects.filter(pk=lost.pk).update(ciphertext=b"gAAAA-of-another-service")
    steps("new written")

    with pytest.raises(CommandError, match=f"1 application keys cannot be read .* {lost.pk}"):
        call_command("rotate_secrets")

    others = ApplicationKey.objects.exclude(pk=lost.pk)
    assert all(is_newest(key.ciphertext) for key in others)


@pytest.mark.django_db(transaction=True)
def test_two_rotations_at_once_are_refused():
    with exclusive_job("The rotation of secrets"), pytest.raises(CommandError, match="already running"):
        call_command("rotate_secrets")


def test_every_column_of_bytes_is_rotated_or_plain():
    columns = {
        f"{model.__name__}.{field.name}"
        for app in ("accounts", "applications", "stores", "delivery", "production")
        for model in apps.get_app_config(app).get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.BinaryField)
    }
    rotated = {f"{secret.model.__name__}.{secret.ciphertext}" for secret in stored_secrets()}

    assert columns - PLAIN_BYTES == rotated


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_request_is_refused_while_secrets_are_rotated(steps):
    world = build_world()
    for _ in range(60):
        create_subscription(user=UserFactory())
    client, subscription = world.as_user(world.user), world.outsider.subscription
    party = Party(world.application, decrypt(world.application.keys.get().ciphertext))
    answers, over, rounds = [], threading.Event(), Counter()

    def ask():
        while not over.is_set():
            rounds["ask"] += 1
            answers.append(client.call("GET", "/application").status_code)
            answers.append(party.post("/oauth/token", {"grant_type": "client_credentials"}).status_code)
        connection.close()

    def regenerate():
        while not over.is_set():
            rounds["regenerate"] += 1
            value = regenerate_subscription_key(subscription=subscription, slot="primary")
            subscription_key = SubscriptionKey.objects.get(digest__in=digests(value))
            answers.append(200 if decrypt(subscription_key.ciphertext) == value else 500)
        connection.close()

    def take(step):
        """As a restart does: what began under the settings before comes to its end."""
        steps(step)
        begun = Counter(rounds)
        wait_for(lambda: all(rounds[work] >= begun[work] + 2 for work in ("ask", "regenerate")), every=0.005)

    threads = [threading.Thread(target=work) for work in (ask, regenerate)]
    for thread in threads:
        thread.start()
    try:
        take("both known")
        take("new written")
        rotate_secrets(batch=1)
        take("after")
        wait_for(lambda: len(answers) > 20, every=0.005)
    finally:
        over.set()
        for thread in threads:
            thread.join()

    assert set(answers) == {200}
