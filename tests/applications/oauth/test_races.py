"""Parallel use on real PostgreSQL."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from applications.oauth.models import UsedCode
from applications.oauth.services import revoke_token_family, revoke_tokens
from applications.registration.services.keys import regenerate_key
from tests.factories.accounts import UserFactory
from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import Party
from tests.support.cases import cases

ROUNDS = cases(6, 50)
THREADS = 8

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def at_once(*steps: Callable[[Client], Any]) -> list[Any]:
    """Runs every step in a thread of its own, all started by a barrier; an exception is an answer too."""
    barrier = Barrier(len(steps))

    def run(step: Callable[[Client], Any]) -> Any:
        try:
            client = Client(raise_request_exception=False)
            barrier.wait()
            return step(client)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(steps)) as pool:
        return list(pool.map(run, steps))


def statuses(responses: list[Any]) -> Counter[int]:
    return Counter(response.status_code for response in responses)


@pytest.fixture
def party() -> Party:
    return Party(ApplicationFactory(confidential=True))


@pytest.fixture
def user():
    return UserFactory()


def test_of_parallel_redemptions_one_wins(party, user):
    for _ in range(ROUNDS):
        code = party.code_for(user)
        responses = at_once(*[lambda client, code=code: party.redeem(code, client)] * THREADS)
        assert statuses(responses) == {200: 1, 400: THREADS - 1}
        assert {r.json()["error"] for r in responses if r.status_code == 400} == {"invalid_grant"}
    assert UsedCode.objects.count() == RefreshToken.objects.count() == ROUNDS
    assert not Grant.objects.exists()


def test_replay_after_the_race_leaves_nothing_alive(party, user):
    for _ in range(ROUNDS):
        code = party.code_for(user)
        at_once(*[lambda client, code=code: party.redeem(code, client)] * THREADS)
        assert party.redeem(code).status_code == 400
        assert not AccessToken.objects.exists()
        assert not RefreshToken.objects.filter(revoked__isnull=True).exists()


def test_of_parallel_refreshes_one_wins(party, user):
    token = party.sign_in(user)["refresh_token"]
    for _ in range(ROUNDS):
        responses = at_once(*[lambda client, token=token: party.refresh(token, client)] * THREADS)
        assert statuses(responses) == {200: 1, 400: THREADS - 1}
        [token] = [r.json()["refresh_token"] for r in responses if r.status_code == 200]
        assert AccessToken.objects.count() == 1
        assert RefreshToken.objects.filter(revoked__isnull=True).count() == 1
    assert RefreshToken.objects.values("token_family").distinct().count() == 1


def test_late_reuse_beside_a_rotation_ends_the_new_token_too(party, user):
    for _ in range(ROUNDS):
        old = party.sign_in(user)["refresh_token"]
        new = party.refresh(old).json()["refresh_token"]
        RefreshToken.objects.filter(revoked__isnull=False).update(
            revoked=timezone.now() - timedelta(minutes=1)
        )
        responses = at_once(
            lambda client, new=new: party.refresh(new, client),
            *[lambda client, old=old: party.refresh(old, client)] * 3,
        )
        assert set(statuses(responses)) <= {200, 400}
        assert not AccessToken.objects.exists()
        assert not RefreshToken.objects.filter(revoked__isnull=True).exists()


def test_withdrawn_consent_ends_what_is_under_way(party, user):
    for _ in range(ROUNDS):
        code, token = party.code_for(user), party.sign_in(user)["refresh_token"]
        responses = at_once(
            lambda client, code=code: party.redeem(code, client),
            lambda client, token=token: party.refresh(token, client),
            lambda client: revoke_tokens(user=user, application=party.application),
        )
        assert {r.status_code for r in responses if r is not None} <= {200, 400}
        # Requests after the withdrawal were refused; tokens from before it were ended by it.
        assert not RefreshToken.objects.filter(revoked__isnull=True).exists()
        assert not AccessToken.objects.exists()


def test_parallel_endings_do_not_block_each_other(party, user):
    for _ in range(ROUNDS):
        for _ in range(3):
            party.sign_in(user)
        families = list(
            RefreshToken.objects.filter(revoked__isnull=True).values_list("token_family", flat=True)
        )
        at_once(
            *[lambda client, family=family: revoke_token_family(token_family=family) for family in families],
            lambda client: revoke_tokens(user=user, application=party.application),
            lambda client: revoke_tokens(user=user, application=party.application),
        )
        assert not AccessToken.objects.exists()


def test_secret_is_invalid_once_its_key_was_regenerated(party):
    for _ in range(ROUNDS):
        application = ApplicationFactory(confidential=True)
        held = Party(application)
        key = application.keys.get()

        def ask(client: Client, held: Party = held) -> Any:
            return held.token(client, grant_type="client_credentials")

        responses = at_once(
            *[ask] * 4, lambda client, key=key: regenerate_key(application=key.application, key_id=key.pk)
        )
        assert {r.status_code for r in responses[:-1]} <= {200, 401}
        assert held.token(grant_type="client_credentials").status_code == 401


def test_parallel_revocations_all_succeed(party, user):
    for _ in range(ROUNDS):
        tokens = party.sign_in(user)
        responses = at_once(
            *[
                lambda client, tokens=tokens: party.post(
                    "/oauth/revoke", {"token": tokens["refresh_token"]}, client
                )
            ]
            * 3,
            *[
                lambda client, tokens=tokens: party.post(
                    "/oauth/revoke", {"token": tokens["access_token"]}, client
                )
            ]
            * 3,
            lambda client, tokens=tokens: party.refresh(tokens["refresh_token"], client),
        )
        assert {r.status_code for r in responses[:-1]} == {200}
        assert responses[-1].status_code in {200, 400}
        assert not AccessToken.objects.exists()
