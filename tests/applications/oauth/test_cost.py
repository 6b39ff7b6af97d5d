"""What a call of the token endpoint costs the database."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.accounts.oauth_flows import Party

CONTROL = re.compile(r"(^|; )(SAVEPOINT|RELEASE|ROLLBACK|BEGIN|COMMIT)")


def statements_of(step) -> tuple[int, int]:
    with CaptureQueriesContext(connection) as captured:
        response = step()
    counted = [query for query in captured.captured_queries if not CONTROL.search(query["sql"])]
    return response.status_code, len(counted)


def test_client_credentials_cost_two_statements(confidential):
    assert statements_of(lambda: confidential.token(grant_type="client_credentials")) == (200, 2)


def test_wrong_secret_costs_one_statement_and_one_to_count_it(confidential):
    wrong = Party(confidential.application, "wrong")
    assert statements_of(lambda: wrong.token(grant_type="client_credentials")) == (401, 2)


@pytest.mark.parametrize(("kind", "most"), [("confidential", 6), ("public", 6)])
def test_redemption_costs_six_statements(request, user, kind, most):
    party = request.getfixturevalue(kind)
    code = party.code_for(user)
    assert statements_of(lambda: party.redeem(code)) == (200, most)


@pytest.mark.parametrize(("kind", "most"), [("confidential", 5), ("public", 5)])
def test_refresh_costs_five_statements(request, user, kind, most):
    party = request.getfixturevalue(kind)
    token = party.sign_in(user)["refresh_token"]
    assert statements_of(lambda: party.refresh(token)) == (200, most)


def test_long_family_costs_no_more(confidential, user):
    token = confidential.sign_in(user)["refresh_token"]
    for _ in range(5):
        token = confidential.refresh(token).json()["refresh_token"]
    assert statements_of(lambda: confidential.refresh(token)) == (200, 5)
