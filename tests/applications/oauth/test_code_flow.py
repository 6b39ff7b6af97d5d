"""The authorization code grant: PKCE, single use, replay, and who is refused on the way."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from accounts.permissions import DEFAULT_SCOPES
from accounts.services.subscriptions import create_subscription
from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import VERIFIER, Party, is_alive, refused


def test_code_gives_one_pair_of_tokens(party, user):
    response = party.redeem(party.code_for(user))
    assert response.status_code == 200
    tokens = response.json()
    assert set(tokens) == {"access_token", "refresh_token", "expires_in", "token_type", "scope"}
    assert (tokens["token_type"], tokens["expires_in"]) == ("Bearer", 3600)
    assert set(tokens["scope"].split()) == set(DEFAULT_SCOPES)
    assert (response["Cache-Control"], response["Pragma"]) == ("no-store", "no-cache")
    assert response["Content-Type"] == "application/json"


def test_values_of_codes_and_tokens_are_not_stored(party, user):
    code = party.code_for(user)
    assert not Grant.objects.filter(code=code).exists()
    tokens = party.redeem(code).json()
    assert not AccessToken.objects.exclude(token="").exists()
    assert not RefreshToken.objects.exclude(token="").exists()
    assert is_alive(tokens["access_token"])


def test_issued_token_grants_access_to_the_api(party, user):
    tokens = party.sign_in(user)
    create_subscription(user=user)
    response = party.client.get(
        "/api/v1/store", headers={"Authorization": f"Bearer {tokens['access_token']}"}
    )
    assert response.json()["Code"] == "subscription_key_missing"
    key = user.subscription.keys.first()
    response = party.client.get(
        "/api/v1/store",
        headers={"Authorization": f"Bearer {tokens['access_token']}", "Ocp-Apim-Subscription-Key": str(key)},
    )
    assert response.json()["Code"] == "subscription_key_invalid"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_verifier": "w" * 43}, "invalid_grant"),
        ({"code_verifier": "v" * 42}, "invalid_grant"),
        ({"code_verifier": "v" * 129}, "invalid_grant"),
        ({"code_verifier": "v" * 42 + "\u00e9"}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": ""}, "invalid_request"),
        ({"redirect_uri": "https://client.example/callback/"}, "invalid_grant"),
        ({"redirect_uri": "https://elsewhere.example/"}, "invalid_grant"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"code": "unknown"}, "invalid_grant"),
        ({"code": "\u2603" * 300}, "invalid_grant"),
        ({"code": None}, "invalid_request"),
        ({"resource": "https://elsewhere.example"}, "invalid_target"),
        ({"resource": ["http://127.0.0.1:8000/api/v1", "https://elsewhere.example"]}, "invalid_target"),
    ],
)
def test_code_is_bound_to_what_was_requested(party, user, changes, error):
    code = party.code_for(user)
    assert refused(party.redeem(code, **changes), error)
    assert not AccessToken.objects.exists()
    assert party.redeem(code).status_code == 200


def test_redirect_uri_that_was_not_sent_need_not_be_repeated(party, user):
    assert party.redeem(party.code_for(user, redirect_uri=None), redirect_uri=None).status_code == 200
    assert party.redeem(party.code_for(user, redirect_uri=None)).status_code == 200
    code = party.code_for(user, redirect_uri=None)
    assert refused(party.redeem(code, redirect_uri="https://elsewhere.example/"))


def test_code_is_valid_for_a_minute(party, user):
    code = party.code_for(user)
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        assert refused(party.redeem(code))


def test_code_is_for_its_own_client(party, user):
    code = party.code_for(user)
    other = Party(ApplicationFactory(confidential=True))
    assert refused(other.redeem(code))
    assert party.redeem(code).status_code == 200


def test_code_of_an_inactive_user_is_refused(party, user):
    code = party.code_for(user)
    user.is_active = False
    user.save()
    assert refused(party.redeem(code))


def test_disabled_application_gets_no_token(party, user):
    code = party.code_for(user)
    party.application.is_enabled = False
    party.application.save()
    response = party.redeem(code)
    assert response.status_code == 401
    assert response.json()["error"] == "invalid_client"


def test_code_used_again_ends_what_it_gave(party, user):
    code = party.code_for(user)
    first = party.redeem(code).json()
    second = party.refresh(first["refresh_token"]).json()
    assert is_alive(second["access_token"])
    assert refused(party.redeem(code))
    assert not is_alive(second["access_token"])
    assert refused(party.refresh(second["refresh_token"]))
    assert not AccessToken.objects.exists()


def test_used_code_in_foreign_hands_ends_nothing(party, user):
    code = party.code_for(user)
    tokens = party.redeem(code).json()
    other = Party(ApplicationFactory(confidential=True))
    assert refused(other.redeem(code))
    assert is_alive(tokens["access_token"])


def test_replay_ends_one_sign_in_only(party, user):
    code = party.code_for(user)
    party.redeem(code)
    other = party.sign_in(user)
    assert refused(party.redeem(code))
    assert is_alive(other["access_token"])


def test_resource_is_kept_with_the_tokens(party, user):
    api, service = "http://127.0.0.1:8000/api/v1", "http://127.0.0.1:8000"
    tokens = party.sign_in(user, resource=api)
    assert AccessToken.objects.get().resource == [api]
    assert refused(party.refresh(tokens["refresh_token"], resource=service), "invalid_target")
    assert party.refresh(tokens["refresh_token"], resource=api).status_code == 200
    assert AccessToken.objects.get().resource == [api]


def test_scopes_requested_are_the_scopes_given(party, user):
    tokens = party.sign_in(user, scope="Store.Self.Read Order.All.Read Store.Self.Read")
    assert tokens["scope"] == "Store.Self.Read Order.All.Read"


def test_verifier_is_never_optional(party, user):
    response = party.consent_of(user, code_challenge=None, code_challenge_method=None)
    assert response["error"] == "invalid_request"
    assert VERIFIER not in str(response)
