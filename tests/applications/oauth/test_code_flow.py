"""The authorization code grant: PKCE, single use, replay, and who is refused on the way."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from accounts.permissions import DEFAULT_SCOPES
from tests.applications.oauth.flows import VERIFIER, Party, answer_of, browser_of
from tests.factories.applications import ApplicationFactory, ApplicationKeyFactory


def alive(value: str) -> bool:
    from applications.oauth.validator import sha256

    return AccessToken.objects.filter(token_checksum=sha256(value)).exists()


@pytest.mark.parametrize("kind", ["confidential", "public"])
def test_a_code_gives_one_pair_of_tokens(request, user, kind):
    party = request.getfixturevalue(kind)
    response = party.redeem(party.code_for(user))
    assert response.status_code == 200
    tokens = response.json()
    assert set(tokens) == {"access_token", "refresh_token", "expires_in", "token_type", "scope"}
    assert tokens["token_type"] == "Bearer"
    assert tokens["expires_in"] == 3600
    assert set(tokens["scope"].split()) == set(DEFAULT_SCOPES)
    assert response["Cache-Control"] == "no-store"
    assert response["Pragma"] == "no-cache"
    assert response["Content-Type"] == "application/json"


def test_values_of_codes_and_tokens_are_not_stored(user, confidential):
    code = confidential.code_for(user)
    assert not Grant.objects.filter(code=code).exists()
    tokens = confidential.redeem(code).json()
    assert not AccessToken.objects.filter(token=tokens["access_token"]).exists()
    assert not RefreshToken.objects.filter(token=tokens["refresh_token"]).exists()
    assert alive(tokens["access_token"])
