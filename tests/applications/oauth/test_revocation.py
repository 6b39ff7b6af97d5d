"""Revocation by the client (RFC 7009)."""

import pytest
from oauth2_provider.models import AccessToken

from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import Party, is_alive


@pytest.mark.parametrize("hint", [None, "access_token", "refresh_token", "nonsense"])
@pytest.mark.parametrize("which", ["access_token", "refresh_token"])
def test_revoking_either_token_ends_both(party, user, which, hint):
    tokens = party.sign_in(user)
    response = party.revoke(tokens[which], token_type_hint=hint)
    assert (response.status_code, response.content) == (200, b"")
    assert response["Cache-Control"] == "no-store"
    assert not is_alive(tokens["access_token"])
    assert party.refresh(tokens["refresh_token"]).status_code == 400


def test_revoking_a_rotated_token_ends_its_family(party, user):
    old = party.sign_in(user)
    new = party.refresh(old["refresh_token"]).json()
    assert party.revoke(old["refresh_token"]).status_code == 200
    assert not is_alive(new["access_token"])
    assert party.refresh(new["refresh_token"]).status_code == 400


def test_other_sign_ins_stay(party, user):
    tokens, other = party.sign_in(user), party.sign_in(user)
    party.revoke(tokens["refresh_token"])
    assert is_alive(other["access_token"])


def test_token_of_another_client_stays(party, user):
    tokens = party.sign_in(user)
    other = Party(ApplicationFactory(confidential=True))
    for which in ("access_token", "refresh_token"):
        assert other.revoke(tokens[which]).status_code == 200
    assert is_alive(tokens["access_token"])
    assert party.refresh(tokens["refresh_token"]).status_code == 200


def test_application_revokes_its_own_token(confidential):
    token = confidential.token(grant_type="client_credentials").json()["access_token"]
    assert confidential.revoke(token).status_code == 200
    assert not AccessToken.objects.exists()


@pytest.mark.parametrize("token", ["unknown", "\u2603", "x" * 10_000])
def test_unknown_token_is_not_an_error(party, token):
    assert party.revoke(token).status_code == 200


@pytest.mark.parametrize("token", ["", None])
def test_missing_token_is_an_error(party, token):
    response = party.revoke(token)
    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


def test_nul_is_an_error(party):
    assert party.revoke("a\0b").status_code == 400


def test_other_application_cannot_revoke(confidential, user):
    tokens = confidential.sign_in(user)
    confidential.secret = "wrong"
    response = confidential.revoke(tokens["access_token"])
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Basic ")
    assert is_alive(tokens["access_token"])
