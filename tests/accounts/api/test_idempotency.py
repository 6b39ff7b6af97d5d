from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import IdempotentResponse, User
from accounts.services.idempotency import clear_old_responses
from applications.registration.models import Application

NEW = {"Name": "Card Studio", "Keys": [{}]}
USER = {
    "Username": "newcomer",
    "FirstName": "New",
    "LastName": "Comer",
    "Email": "new@print.example",
    "Password": "a long pass phrase",
}


def create(client, body=NEW, key="k-1", path="/application"):
    return client.call("POST", path, body, HTTP_IDEMPOTENCY_KEY=key)


def test_same_request_is_answered_the_same_and_done_once(world):
    client = world.as_user(world.user)
    first, again = create(client), create(client)

    assert (first.status_code, again.status_code) == (201, 201)
    assert (again.content, again["Location"]) == (first.content, first["Location"])
    assert (again["Idempotent-Replayed"], "Idempotent-Replayed" in first) == ("true", False)
    assert Application.objects.filter(name="Card Studio").count() == 1


def test_quoted_and_bare_keys_are_the_same_and_members_may_be_reordered(world):
    client = world.as_user(world.user)
    create(client, key='"k-1"')
    again = create(client, dict(reversed(NEW.items())))

    assert again["Idempotent-Replayed"] == "true"


def test_other_request_under_the_key_is_refused(world):
    client = world.as_user(world.user)
    create(client)

    other = [create(client, {"Name": "Other"}), create(client, USER, path="/user")]

    assert [(r.status_code, r.json()["Code"]) for r in other] == [(422, "idempotency_key_reused")] * 2


def test_keys_of_callers_are_their_own(world):
    create(world.as_user(world.user))
    another = create(world.as_user(world.outsider))

    assert (another.status_code, "Idempotent-Replayed" in another) == (201, False)


def test_failures_are_not_kept(world):
    client = world.as_user(world.user)
    refused = create(client, {**USER, "Username": "user"}, path="/user")
    taken = create(client, USER, path="/user")

    assert (refused.status_code, taken.status_code) == (400, 200)
    assert User.objects.filter(username="newcomer").exists()


def test_answer_is_kept_for_24_hours(world):
    client = world.as_user(world.user)
    create(client)
    IdempotentResponse.objects.update(created=timezone.now() - timedelta(hours=24, seconds=1))

    again = create(client)

    assert (again.status_code, "Idempotent-Replayed" in again) == (201, False)
    IdempotentResponse.objects.update(created=timezone.now() - timedelta(hours=25))
    clear_old_responses()
    assert not IdempotentResponse.objects.exists()


def test_kept_responses_hold_no_secret_in_the_clear(world):
    response = create(world.as_user(world.user))

    idempotent_response = IdempotentResponse.objects.get()
    assert response.json()["Keys"][0]["Value"].encode() not in bytes(idempotent_response.body)
    assert b"Card Studio" not in bytes(idempotent_response.body)


@pytest.mark.parametrize("key", ["", '""', "x" * 256, "caf\u00e9", '"open', " "])
def test_unusable_key_is_refused(world, key):
    response = create(world.as_user(world.user), key=key)

    assert (response.status_code, response.json()["Code"]) == (400, "idempotency_key_invalid")


def test_association_request_takes_a_key(world):
    client = world.as_application()
    first, again = (create(client, {"StoreID": "unassociated"}, path="/association") for _ in range(2))

    assert (first.status_code, again.status_code, again["Idempotent-Replayed"]) == (201, 201, "true")
