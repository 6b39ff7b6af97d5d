"""Discovery (RFC 8414 and RFC 9728), and what is not served."""

import pytest
from django.test import Client

ISSUER = "http://127.0.0.1:8000"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_metadata_is_independent_of_the_host_header(host):
    response = Client(headers={"Host": host}).get("/.well-known/oauth-authorization-server")
    assert response.status_code == 200
    assert response["Access-Control-Allow-Origin"] == "*"
    metadata = response.json()
    assert metadata["issuer"] == ISSUER
    assert metadata["authorization_endpoint"] == f"{ISSUER}/oauth/authorize"
    assert metadata["token_endpoint"] == f"{ISSUER}/oauth/token"
    assert metadata["revocation_endpoint"] == f"{ISSUER}/oauth/revoke"
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["grant_types_supported"] == ["authorization_code", "refresh_token", "client_credentials"]
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert "Operator" not in metadata["scopes_supported"]
    assert not {"introspection_endpoint", "registration_endpoint", "jwks_uri"} & set(metadata)


def test_implicit_flow_is_announced_only_where_it_is_served(client, settings):
    settings.IMPLICIT_FLOW_ENABLED = True
    metadata = client.get("/.well-known/oauth-authorization-server").json()
    assert metadata["response_types_supported"] == ["code", "token"]
    assert "implicit" in metadata["grant_types_supported"]


@pytest.mark.parametrize(("path", "resource"), [("", ISSUER), ("/api/v1", f"{ISSUER}/api/v1")])
def test_resource_is_the_address_it_was_derived_from(client, path, resource):
    response = client.get(f"/.well-known/oauth-protected-resource{path}")
    assert response.json()["resource"] == resource
    assert response.json()["authorization_servers"] == [ISSUER]
    assert response.json()["bearer_methods_supported"] == ["header"]
    assert response["Access-Control-Allow-Origin"] == "*"


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server/other",
        "/.well-known/oauth-protected-resource/other",
        "/.well-known/openid-configuration",
        "/oauth/introspect",
        "/oauth/introspect/",
        "/oauth/register/",
        "/oauth/device-authorization/",
        "/oauth/applications/",
        "/oauth/authorized_tokens/",
        "/oauth/userinfo/",
        "/oauth/authorize/",
        "/oauth/token/",
        "/o/token/",
    ],
)
def test_nothing_else_is_served(client, db, path):
    assert client.get(path).status_code == 404
    assert client.post(path).status_code in {404, 405}
