"""Refresh tokens rotate, end with their family, and do not live for ever."""

from datetime import timedelta
from uuid import UUID

import pytest
import time_machine
from django.utils import timezone
from oauth2_provider.models import AccessToken, RefreshToken

from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import Party, is_alive, refused


def test_refresh_replaces_both_tokens(party, user):
    old = party.sign_in(user)
    new = party.refresh(old["refresh_token"]).json()
    assert not is_alive(old["access_token"])
    assert is_alive(new["access_token"])
    assert new["refresh_token"] != old["refresh_token"]
    assert new["scope"] == old["scope"]
    assert RefreshToken.objects.filter(revoked__isnull=True).count() == 1


def test_spent_token_sent_again_at_once_is_refused_and_nothing_more(party, user):
    old = party.sign_in(user)
    new = party.refresh(old["refresh_token"]).json()
    assert refused(party.refresh(old["refresh_token"]))
    assert is_alive(new["access_token"])
    assert party.refresh(new["refresh_token"]).status_code == 200


def test_spent_token_sent_later_ends_its_family(party, user):
    old = party.sign_in(user)
    new = party.refresh(old["refresh_token"]).json()
    other_sign_in = party.sign_in(user)
    with time_machine.travel(timezone.now() + timedelta(seconds=11)):
        assert refused(party.refresh(old["refresh_token"]))
        assert not is_alive(new["access_token"])
        assert refused(party.refresh(new["refresh_token"]))
        assert is_alive(other_sign_in["access_token"])


def test_spent_token_in_foreign_hands_ends_nothing(party, user):
    old = party.sign_in(user)
    new = party.refresh(old["refresh_token"]).json()
    other = Party(ApplicationFactory(confidential=True))
    with time_machine.travel(timezone.now() + timedelta(seconds=60)):
        assert refused(other.refresh(old["refresh_token"]))
        assert refused(other.refresh(new["refresh_token"]))
        assert is_alive(new["access_token"])


def test_inactive_user_cannot_refresh(party, user):
    tokens = party.sign_in(user)
    user.is_active = False
    user.save()
    assert refused(party.refresh(tokens["refresh_token"]))


def test_disabled_application_cannot_refresh(party, user):
    tokens = party.sign_in(user)
    party.application.is_enabled = False
    party.application.save()
    assert party.refresh(tokens["refresh_token"]).status_code == 401


def test_thirty_idle_days_end_a_refresh_token(party, user):
    tokens = party.sign_in(user)
    with time_machine.travel(timezone.now() + timedelta(days=30, hours=1, seconds=1)):
        assert refused(party.refresh(tokens["refresh_token"]))


def test_ninety_days_after_the_sign_in_refreshing_ends(party, user):
    token = party.sign_in(user)["refresh_token"]
    start = timezone.now()
    for days in (25, 50, 75, 89):
        with time_machine.travel(start + timedelta(days=days)):
            token = party.refresh(token).json()["refresh_token"]
            # Cleaning up spent tokens must not make the family look younger.
            RefreshToken.objects.filter(revoked__isnull=False).delete()
    with time_machine.travel(start + timedelta(days=90, seconds=1)):
        assert refused(party.refresh(token))


def test_row_that_is_older_than_the_limit_is_refused(party, user):
    token = party.sign_in(user)["refresh_token"]
    RefreshToken.objects.update(created=timezone.now() - timedelta(days=91))
    assert refused(party.refresh(token))


def test_scopes_can_shrink_but_not_grow(party, user):
    token = party.sign_in(user, scope="Store.Self.Read Order.Self.Read")["refresh_token"]
    assert refused(party.refresh(token, scope="Store.Self.Read Application.Self.Read"), "invalid_scope")
    assert party.refresh(token, scope="Store.Self.Read").json()["scope"] == "Store.Self.Read"


@pytest.mark.parametrize("token", ["unknown", "\u2603", "x" * 10_000, "sfr_" + "A" * 43])
def test_unknown_token_is_refused(party, token):
    assert refused(party.refresh(token))


def test_access_token_does_not_refresh(party, user):
    tokens = party.sign_in(user)
    assert refused(party.refresh(tokens["access_token"]))
    assert AccessToken.objects.count() == 1


@pytest.mark.parametrize("family", [None, UUID(int=4 << 76 | 2 << 62)])
def test_token_of_a_family_without_a_time_refreshes(party, user, family):
    tokens = party.sign_in(user)
    RefreshToken.objects.update(token_family=family)
    assert party.refresh(tokens["refresh_token"]).status_code == 200
