"""Refusals at the token endpoint are limited by address; good credentials behind it go on working."""

import pytest

from accounts.models import RateWindow
from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import Party, basic

ELSEWHERE = {"REMOTE_ADDR": "198.51.100.7"}


@pytest.fixture(autouse=True)
def three_a_minute(settings):
    settings.TOKEN_FAILURES_PER_MINUTE = 3


def wrong(party: Party) -> Party:
    return Party(party.application, "wrong")


def test_fourth_wrong_secret_is_429_with_retry_after(confidential):
    answers = [wrong(confidential).token(grant_type="client_credentials") for _ in range(4)]

    assert [response.status_code for response in answers] == [401, 401, 401, 429]
    assert 1 <= int(answers[3]["Retry-After"]) <= 60
    assert answers[3]["RateLimit-Policy"] == '"token-failures";q=3;w=60'
    assert answers[3].json()["error"] == "temporarily_unavailable"
    assert answers[3]["Cache-Control"] == "no-store"


def test_wrong_code_and_a_wrong_refresh_token_count_as_well(public):
    statuses = [public.redeem("nonsense").status_code for _ in range(2)]
    statuses += [public.refresh("nonsense").status_code for _ in range(2)]

    assert statuses == [400, 400, 400, 429]


def test_invalid_request_is_not_counted_as_a_failure(confidential):
    for _ in range(5):
        assert confidential.token(grant_type="password").status_code == 400
        assert confidential.token().status_code == 400

    assert not RateWindow.objects.exists()


def test_others_behind_the_same_address_continue(confidential):
    good = Party(ApplicationFactory(confidential=True))
    for _ in range(5):
        wrong(confidential).token(grant_type="client_credentials")

    assert good.token(grant_type="client_credentials").status_code == 200
    assert wrong(good).token(grant_type="client_credentials").status_code == 429


def test_client_that_continues_with_wrong_secrets_costs_no_query(confidential, django_assert_num_queries):
    for _ in range(4):
        wrong(confidential).token(grant_type="client_credentials")

    with django_assert_num_queries(0):
        assert wrong(confidential).token(grant_type="client_credentials").status_code == 429


def test_another_address_is_not_held_liable(confidential):
    for _ in range(5):
        wrong(confidential).token(grant_type="client_credentials")

    response = confidential.client.post(
        "/oauth/token",
        "grant_type=client_credentials",
        content_type="application/x-www-form-urlencoded",
        headers={"Authorization": basic(confidential.application.client_id, "wrong")},
        **ELSEWHERE,
    )

    assert response.status_code == 401


def test_revocation_shares_the_limit(confidential):
    statuses = [wrong(confidential).revoke("token").status_code for _ in range(4)]

    assert statuses == [401, 401, 401, 429]


def test_address_that_floods_is_refused_whole_and_unread(confidential, django_assert_num_queries):
    good = Party(ApplicationFactory(confidential=True))
    for number in range(31):
        assert number > 20 or good.token(grant_type="client_credentials").status_code == 200, number
        confidential.redeem(f"nonsense-{number}")

    with django_assert_num_queries(0):
        assert good.token(grant_type="client_credentials").status_code == 429
