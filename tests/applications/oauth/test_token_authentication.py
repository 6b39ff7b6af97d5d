"""Who calls, as the two credential headers say it: what opens, what is refused, and in which words."""

from datetime import timedelta

import pghistory
import pytest
import time_machine
from django.test import RequestFactory
from django.utils import timezone
from oauth2_provider.models import AccessToken
from rest_framework.request import Request

from accounts.callers import Caller
from accounts.models import RateWindow, Subscription, User
from accounts.permissions import add_implied
from accounts.rate_limits import RateLimitStatus
from applications.oauth import token_authentication
from applications.oauth.token_authentication import (
    INVALID_KEY,
    MISSING_KEY,
    TokenAuthentication,
    caller_of,
    is_token_known,
)
from applications.registration.models import Application
from fulfillment.core.api.errors import Unauthorized, bearer_challenge
from fulfillment.core.db.prepared import fetch_row
from tests.support.scenario import EVERYDAY_SCOPES, ApiClient

KEYLESS = "/store/associated/order/exportview"
HERE = "http://127.0.0.1:8000"


def change_token(**values) -> None:
    AccessToken.objects.filter(pk=AccessToken.objects.latest("pk").pk).update(**values)


def refused(response, code: str) -> str:
    """The words of the refusal, which stand in each of its places."""
    assert (response.status_code, response.json()["Code"]) == (401, code), response.content
    return response.json()["detail"]


def test_caller_of_a_user_is_known_whole(world):
    client = world.as_user(world.user, ("Order.All.Read", "Store.Self.Read"))

    caller, standing = caller_of(f"Bearer {client.token}", client.key)

    assert caller == Caller(
        user_id=world.user.pk,
        tenant_id=world.tenant.pk,
        is_operator_user=False,
        application_id=world.console.pk,
        is_first_party=True,
        scopes=frozenset({"Order.All.Read", "Order.Self.Read", "Store.Self.Read"}),
        subscription_id=world.user.subscription.pk,
    )
    assert isinstance(standing, RateLimitStatus)
    assert (standing.policy, standing.quota, standing.used) == ("subscription", 600, 1)
    assert 59 < standing.resets_in <= 60


def test_caller_of_an_application_has_no_person(world):
    client = world.as_application()

    caller, _ = caller_of(f"Bearer {client.token}", client.key)

    assert caller == Caller(
        application_id=world.application.pk,
        scopes=add_implied(EVERYDAY_SCOPES),
        subscription_id=world.application.subscription.pk,
    )


def test_operator_is_known_as_one(world):
    client = world.as_operator()

    assert caller_of(f"Bearer {client.token}", client.key)[0].is_operator


def test_where_no_key_is_needed_the_owner_answers_for_the_call(world):
    for client, owner in (
        (world.as_user(world.user), world.user),
        (world.as_application(), world.application),
    ):
        caller, standing = caller_of(f"Bearer {client.token}", "")
        assert caller.subscription_id == owner.subscription.pk
        assert RateWindow.objects.get(bucket=f"subscription:{owner.subscription.pk}").used == standing.used
        assert ApiClient(client.token).call("GET", KEYLESS).status_code == 200


def test_without_any_subscription_the_usual_quota_holds(world):
    client = world.as_user(world.outsider)
    Subscription.objects.filter(user=world.outsider).delete()

    caller, standing = caller_of(f"Bearer {client.token}", "")

    assert (caller.subscription_id, standing.quota, standing.used) == (None, 600, 1)
    assert RateWindow.objects.get().bucket == f"caller:{world.outsider.pk}"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda: change_token(expires=timezone.now()), "The access token has expired."),
        (
            lambda: Application.objects.update(is_enabled=False),
            "The application of this access token is disabled.",
        ),
        (lambda: User.objects.update(is_active=False), "The user of this access token is inactive."),
        (
            lambda: change_token(resource=["https://elsewhere.example"]),
            "The access token was issued for another resource.",
        ),
        (
            lambda: change_token(resource=[f"{HERE}.elsewhere.example", f"{HERE}/api/v1/store"]),
            "The access token was issued for another resource.",
        ),
        (lambda: AccessToken.objects.all().delete(), "The access token is unknown or was revoked."),
    ],
)
def test_invalid_token_is_refused_in_words_and_in_the_challenge(world, change, words):
    client = world.as_user(world.user)
    assert client.call("GET", "/store").status_code == 200
    change()

    response = client.call("GET", "/store")

    assert refused(response, "token_invalid") == words
    assert response["WWW-Authenticate"] == (
        f'Bearer realm="{HERE}/api/v1", error="invalid_token", error_description="{words}", '
        f'resource_metadata="{HERE}/.well-known/oauth-protected-resource"'
    )


def test_token_is_valid_until_its_expiry(world):
    client = world.as_user(world.user)
    end = timezone.now() + timedelta(minutes=1)
    change_token(expires=end)

    with time_machine.travel(end - timedelta(milliseconds=1), tick=False):
        assert client.call("GET", "/store").status_code == 200
    with time_machine.travel(end, tick=False):
        assert client.call("GET", "/store").status_code == 401


@pytest.mark.parametrize(
    "resources", [[], [HERE], [f"{HERE}/api/v1"], ["https://elsewhere.example", f"{HERE}/api/v1"]]
)
def test_token_for_this_service_is_accepted(world, resources):
    client = world.as_user(world.user)
    change_token(resource=resources)

    assert client.call("GET", "/store").status_code == 200


def test_applications_own_token_needs_no_person(world):
    client = world.as_application()
    User.objects.update(is_active=False)

    assert client.call("GET", "/store").status_code == 200


def test_order_of_refusals_is_key_missing_then_token_then_key(world):
    client = world.as_user(world.user)

    assert refused(ApiClient().call("GET", "/store"), "subscription_key_missing") == MISSING_KEY
    assert refused(ApiClient("x", "  ").call("GET", "/store"), "subscription_key_missing") == MISSING_KEY
    assert (
        refused(ApiClient(key="wrong").call("GET", "/store"), "token_missing")
        == "The Authorization header is missing. Get an access token at /oauth/token and send it as: "
        "Authorization: Bearer <access token>."
    )
    assert (
        refused(ApiClient("a b", "wrong").call("GET", "/store"), "token_invalid")
        == "The Authorization header must read: Bearer <access token>."
    )
    assert refused(ApiClient("sfa_unknown", "wrong").call("GET", "/store"), "token_invalid")
    assert (
        refused(ApiClient(client.token, "wrong").call("GET", "/store"), "subscription_key_invalid")
        == INVALID_KEY
    )


def test_refused_key_is_reported_as_by_the_gateway(world):
    response = ApiClient(world.as_user(world.user).token, "wrong").call("GET", "/store")

    assert (response.json()["statusCode"], response.json()["message"]) == (401, INVALID_KEY)
    assert response["WWW-Authenticate"] == (
        f'AzureApiManagementKey realm="{HERE}/api/v1",name="Ocp-Apim-Subscription-Key",type="header"'
    )


def test_missing_token_is_answered_with_the_plain_challenge(world):
    response = ApiClient(key="x").call("GET", "/store")

    assert response["WWW-Authenticate"] == bearer_challenge()
    assert "error=" not in response["WWW-Authenticate"]


def test_wrong_key_is_refused_also_where_none_is_needed(world):
    token = world.as_user(world.user).token

    for key in ("wrong", world.key_of(world.outsider), world.key_of(world.application)):
        assert refused(ApiClient(token, key).call("GET", KEYLESS), "subscription_key_invalid") == INVALID_KEY


@pytest.mark.parametrize(("length", "looks"), [(512, 1), (513, 0)])
def test_key_that_is_too_long_for_one_is_not_looked_up(world, monkeypatch, length, looks):
    requested = []
    monkeypatch.setattr(
        token_authentication, "fetch_row", lambda *values: requested.append(values) or fetch_row(*values)
    )

    response = ApiClient(world.as_user(world.user).token, "x" * length).call("GET", "/store")

    assert refused(response, "subscription_key_invalid") == INVALID_KEY
    assert len(requested) == looks


def test_blanks_around_a_key_are_no_part_of_it(world):
    client = world.as_user(world.user)

    assert ApiClient(client.token, f" {client.key} ").call("GET", "/store").status_code == 200


def test_refused_call_counts_on_no_subscription(world):
    client = world.as_user(world.user)
    ApiClient(client.token, "wrong").call("GET", "/store")
    with pytest.raises(Unauthorized):
        caller_of("Bearer sfa_unknown", client.key)

    assert not RateWindow.objects.filter(bucket__startswith="subscription").exists()


def test_key_found_under_an_older_pepper_is_accepted(world, settings):
    client = world.as_user(world.user)
    settings.PEPPERS = ["a newer pepper of this test, long enough", *settings.PEPPERS]

    assert client.call("GET", "/store").status_code == 200


@pytest.mark.parametrize(
    ("sent", "said"), [("sfk_x", "key of an application"), ("sfs_x", "subscription key")]
)
def test_other_secret_in_place_of_a_token_is_named(db, sent, said):
    assert f"This is a {said}, not an access token" in refused(
        ApiClient(sent, "x").call("GET", "/store"), "token_invalid"
    )


def test_token_is_known_until_it_expires(world):
    token = world.as_user(world.user).token

    assert is_token_known(f"Bearer {token}")
    for unknown in ("", token, "Bearer sfa_unknown", f"Bearer {token}x", f"Bearer {token}" + " " * 10_000):
        assert not is_token_known(unknown), unknown[:60]
    change_token(expires=timezone.now())
    assert not is_token_known(f"Bearer {token}")


def test_writes_through_a_token_name_user_and_application_in_the_audit_log(world):
    for method, is_noted in (("GET", False), ("POST", True)):
        client = world.as_user(world.user)
        headers = client.credentials
        request = Request(RequestFactory().generic(method, "/", headers=headers))

        with pghistory.context() as context:
            TokenAuthentication().authenticate(request)

            noted = {"user": world.user.pk, "application": world.console.pk}
            assert context.metadata == (noted if is_noted else {})
