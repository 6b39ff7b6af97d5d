"""Client libraries of others complete everything the server offers, over HTTP."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url
from oauthlib.oauth2 import BackendApplicationClient
from requests_oauthlib import OAuth2Session

from accounts.services.subscriptions import create_subscription, write_subscription_key
from tests.factories.accounts import UserFactory
from tests.factories.applications import ApplicationFactory
from tests.support.browser.interop_browser import Browser
from tests.support.patience import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

RETURN = "http://127.0.0.1:9099/callback"
SCOPES = ["Store.Self.Read", "Order.Self.Read"]
KEY = "sfs_interop_primary"
VERIFIER = "interop-verifier-" + "v" * 40


@pytest.fixture
def issuer(live_server, settings, monkeypatch) -> str:
    settings.PUBLIC_URL = live_server.url
    settings.API_URL = f"{live_server.url}/api/v1"
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    return live_server.url


@pytest.fixture
def metadata(issuer) -> dict[str, Any]:
    """Found as RFC 8414 says, and checked by the client's own rules as far as http on loopback lets it."""
    found = requests.get(
        get_well_known_url(issuer, external=True, suffix="oauth-authorization-server"), timeout=PATIENCE
    )
    document = AuthorizationServerMetadata(found.json())
    assert document["issuer"] == issuer
    for rule in (
        document.validate_response_types_supported,
        document.validate_grant_types_supported,
        document.validate_scopes_supported,
        document.validate_token_endpoint_auth_methods_supported,
        document.validate_revocation_endpoint_auth_methods_supported,
        document.validate_code_challenge_methods_supported,
    ):
        rule()
    return document


@pytest.fixture
def browser(issuer) -> Browser:
    user = UserFactory()
    subscription = create_subscription(user=user)
    write_subscription_key(subscription=subscription, slot="primary", value=KEY)
    return Browser(user)


@pytest.fixture(params=["confidential", "public"])
def application(request, issuer):
    return ApplicationFactory(reply_urls=(RETURN,), confidential=request.param == "confidential")


def opens_the_api(issuer: str, token: str) -> bool:
    headers = {"Authorization": f"Bearer {token}", "Ocp-Apim-Subscription-Key": KEY}
    return requests.get(f"{issuer}/api/v1/store", headers=headers, timeout=PATIENCE).status_code == 200


def test_api_leads_to_its_authorization_server(issuer):
    response = requests.get(
        f"{issuer}/api/v1/store", headers={"Ocp-Apim-Subscription-Key": KEY}, timeout=PATIENCE
    )
    assert response.status_code == 401
    address = response.headers["WWW-Authenticate"].split('resource_metadata="')[1].split('"')[0]
    resource = requests.get(address, timeout=PATIENCE).json()
    assert resource["authorization_servers"] == [issuer]


def test_authlib_completes_everything(application, browser, metadata):
    secret = getattr(application, "known_key", None)
    session = AuthlibSession(
        application.client_id,
        secret,
        scope=" ".join(SCOPES),
        redirect_uri=RETURN,
        code_challenge_method="S256",
        token_endpoint_auth_method="client_secret_basic" if secret else "none",
        revocation_endpoint_auth_method="client_secret_basic" if secret else "none",
        token_endpoint=metadata["token_endpoint"],
    )
    address, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=VERIFIER
    )
    location = browser.consent(address)
    assert parse_qs(urlsplit(location).query)["iss"] == [metadata["issuer"]]
    first = session.fetch_token(
        metadata["token_endpoint"], authorization_response=location, state=state, code_verifier=VERIFIER
    )
    assert opens_the_api(metadata["issuer"], first["access_token"])
    seen = {first["access_token"]}
    for _ in range(3):
        token = session.refresh_token(
            metadata["token_endpoint"], refresh_token=session.token["refresh_token"]
        )
        seen.add(token["access_token"])
        assert opens_the_api(metadata["issuer"], token["access_token"])
    assert len(seen) == 4
    response = session.revoke_token(
        metadata["revocation_endpoint"],
        token=session.token["refresh_token"],
        token_type_hint="refresh_token",
    )
    assert response.status_code == 200
    assert not any(opens_the_api(metadata["issuer"], token) for token in seen)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_authlib_gets_client_credentials(issuer, metadata, method):
    application = ApplicationFactory(confidential=True)
    session = AuthlibSession(
        application.client_id, application.known_key, scope=SCOPES[0], token_endpoint_auth_method=method
    )
    token = session.fetch_token(metadata["token_endpoint"], grant_type="client_credentials")
    assert token["scope"] == SCOPES[0]
    assert "refresh_token" not in token
    revoked = session.revoke_token(metadata["revocation_endpoint"], token=token["access_token"])
    assert revoked.status_code == 200


def test_authlib_receives_a_denial(application, browser, metadata):
    session = AuthlibSession(application.client_id, redirect_uri=RETURN, code_challenge_method="S256")
    address, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=VERIFIER
    )
    location = browser.consent(address, allow=False)
    response = parse_qs(urlsplit(location).query)
    assert (response["error"], response["state"], response["iss"]) == (
        ["access_denied"],
        [state],
        [metadata["issuer"]],
    )


def test_requests_oauthlib_completes_everything(application, browser, metadata):
    secret = getattr(application, "known_key", None)
    session = OAuth2Session(application.client_id, redirect_uri=RETURN, scope=SCOPES, pkce="S256")
    address, _ = session.authorization_url(metadata["authorization_endpoint"])
    location = browser.consent(address)
    first = session.fetch_token(
        metadata["token_endpoint"], authorization_response=location, client_secret=secret
    )
    assert set(first["scope"]) == set(SCOPES)
    seen = {first["access_token"]}
    for _ in range(3):
        credentials = (application.client_id, secret) if secret else None
        token = session.refresh_token(
            metadata["token_endpoint"], auth=credentials, client_id=application.client_id
        )
        assert opens_the_api(metadata["issuer"], token["access_token"])
        seen.add(token["access_token"])
    assert len(seen) == 4
    address, headers, body = session._client.prepare_token_revocation_request(
        metadata["revocation_endpoint"], session.token["refresh_token"], token_type_hint="refresh_token"
    )
    response = requests.post(
        address,
        body if secret else f"{body}&client_id={application.client_id}",
        headers=headers,
        auth=(application.client_id, secret) if secret else None,
        timeout=PATIENCE,
    )
    assert response.status_code == 200
    assert not any(opens_the_api(metadata["issuer"], token) for token in seen)


def test_requests_oauthlib_gets_client_credentials(issuer, metadata):
    application = ApplicationFactory(confidential=True)
    session = OAuth2Session(client=BackendApplicationClient(application.client_id, scope=SCOPES))
    token = session.fetch_token(metadata["token_endpoint"], client_secret=application.known_key)
    assert set(token["scope"]) == set(SCOPES)


def test_verifier_of_the_longest_kind_fits(application, browser, metadata):
    longest = "~" * 128
    session = AuthlibSession(
        application.client_id,
        getattr(application, "known_key", None),
        redirect_uri=RETURN,
        code_challenge_method="S256",
        token_endpoint_auth_method="client_secret_post" if hasattr(application, "known_key") else "none",
    )
    address, _ = session.create_authorization_url(metadata["authorization_endpoint"], code_verifier=longest)
    assert create_s256_code_challenge(longest) in address
    location = browser.consent(address)
    token = session.fetch_token(
        metadata["token_endpoint"], authorization_response=location, code_verifier=longest
    )
    assert token["token_type"] == "Bearer"
