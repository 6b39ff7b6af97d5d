"""Ending what a user granted, and what an application holds."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from applications.oauth.models import UsedCode
from applications.oauth.services import (
    retention_rules,
    revoke_tokens,
)
from tests.factories.accounts import UserFactory
from tests.factories.applications import ApplicationFactory, issue_token
from tests.support.accounts.oauth_flows import Party, is_alive

pytestmark = pytest.mark.django_db


def clear_expired_authorizations(batch=1000):
    return sum(sum(rule.remove(batch)) for rule in retention_rules())


def test_withdrawn_consent_ends_codes_tokens_and_families():
    user, party = UserFactory(), Party(ApplicationFactory(confidential=True))
    code, first, second = party.code_for(user), party.sign_in(user), party.sign_in(user)
    issue_token(user, party.application)
    revoke_tokens(user=user, application=party.application)
    assert not AccessToken.objects.exists()
    assert not Grant.objects.exists()
    assert not RefreshToken.objects.filter(revoked__isnull=True).exists()
    assert party.redeem(code).status_code == 400
    for tokens in (first, second):
        assert party.refresh(tokens["refresh_token"]).status_code == 400


def test_withdrawn_consent_changes_no_other_user():
    user, other_user = UserFactory(), UserFactory()
    party, other_party = Party(ApplicationFactory()), Party(ApplicationFactory())
    kept = [party.sign_in(other_user), other_party.sign_in(user)]
    own = issue_token(None, party.application)
    revoke_tokens(user=user, application=party.application)
    assert all(is_alive(tokens["access_token"]) for tokens in kept)
    assert is_alive(own)


def test_application_can_be_stripped_of_everything():
    party, other_party = Party(ApplicationFactory(confidential=True)), Party(ApplicationFactory())
    user = UserFactory()
    code, tokens, kept = party.code_for(user), party.sign_in(user), other_party.sign_in(user)
    own = party.token(grant_type="client_credentials").json()["access_token"]
    revoke_tokens(application=party.application)
    assert not is_alive(own)
    assert party.redeem(code).status_code == 400
    assert party.refresh(tokens["refresh_token"]).status_code == 400
    assert is_alive(kept["access_token"])


def test_clearing_keeps_what_can_still_be_used():
    user, party = UserFactory(), Party(ApplicationFactory(confidential=True))
    old = party.sign_in(user)
    new = party.refresh(old["refresh_token"]).json()
    party.token(grant_type="client_credentials")
    party.code_for(user)
    assert clear_expired_authorizations() == 0
    with time_machine.travel(timezone.now() + timedelta(days=29)):
        assert clear_expired_authorizations(batch=1) == 2  # the code and the application's own token
        renewed = party.refresh(new["refresh_token"])
        assert renewed.json()["scope"] == old["scope"]
        assert party.refresh(old["refresh_token"]).status_code == 400
        assert not is_alive(renewed.json()["access_token"])


def test_clearing_removes_everything_in_the_end():
    user, party = UserFactory(), Party(ApplicationFactory(confidential=True))
    for _ in range(3):
        party.refresh(party.sign_in(user)["refresh_token"])
    party.sign_in(user)
    with time_machine.travel(timezone.now() + timedelta(days=91)):
        clear_expired_authorizations(batch=2)
    for model in (AccessToken, RefreshToken, Grant, UsedCode):
        assert not model.objects.exists()
