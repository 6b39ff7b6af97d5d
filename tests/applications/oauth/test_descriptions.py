"""Every error of the token endpoint has a sentence for people."""

import pytest

from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import Party

REFUSED = {
    "unsupported_grant_type": {"grant_type": "password", "username": "a", "password": "b"},
    "invalid_scope": {"grant_type": "client_credentials", "scope": "Everything"},
    "invalid_grant": {
        "grant_type": "authorization_code",
        "code": "none",
        "redirect_uri": "https://a.example",
    },
    "invalid_request": {"grant_type": "refresh_token"},
    "invalid_target": {"grant_type": "client_credentials", "resource": "https://elsewhere.example"},
}


@pytest.mark.parametrize("expected", [*REFUSED, "invalid_client"])
def test_error_of_the_token_endpoint_is_described(db, expected):
    application = ApplicationFactory(confidential=True)
    if expected == "invalid_client":
        application.known_key = "wrong"
    party = Party(application)

    response = party.token(**REFUSED.get(expected, {"grant_type": "client_credentials"}))

    body = response.json()
    assert body["error"] == expected, body
    assert body["error_description"].endswith(".")
    assert response.status_code in {400, 401}
