"""Ending what a user granted, and what an application holds."""

import pytest
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from applications.services.authorizations import end_tokens_of_application, revoke_authorization
from tests.applications.oauth.flows import Party, is_alive
from tests.factories.accounts import UserFactory
from tests.factories.applications import ApplicationFactory, issue_token

pytestmark = pytest.mark.django_db


def test_a_withdrawn_consent_ends_codes_tokens_and_families():
    user, party = UserFactory(), Party(ApplicationFactory(confidential=True))
    code, first, second = party.code_for(user), party.sign_in(user), party.sign_in(user)
    issue_token(user, party.application)
    revoke_authorization(user=user, application=party.application)
    assert not AccessToken.objects.exists()
    assert not Grant.objects.exists()
    assert not RefreshToken.objects.filter(revoked__isnull=True).exists()
    assert party.redeem(code).status_code == 400
    for tokens in (first, second):
        assert party.refresh(tokens["refresh_token"]).status_code == 400


def test_a_withdrawn_consent_touches_nobody_else():
    user, other_user = UserFactory(), UserFactory()
    party, other_party = Party(ApplicationFactory()), Party(ApplicationFactory())
    kept = [party.sign_in(other_user), other_party.sign_in(user)]
    own = issue_token(None, party.application)
    revoke_authorization(user=user, application=party.application)
    assert all(is_alive(tokens["access_token"]) for tokens in kept)
    assert is_alive(own)


def test_an_application_can_be_stripped_of_everything():
    party, other_party = Party(ApplicationFactory(confidential=True)), Party(ApplicationFactory())
    user = UserFactory()
    code, tokens, kept = party.code_for(user), party.sign_in(user), other_party.sign_in(user)
    own = party.token(grant_type="client_credentials").json()["access_token"]
    end_tokens_of_application(application=party.application)
    assert not is_alive(own)
    assert party.redeem(code).status_code == 400
    assert party.refresh(tokens["refresh_token"]).status_code == 400
    assert is_alive(kept["access_token"])
