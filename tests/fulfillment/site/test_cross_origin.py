"""What a browser lets scripts of other sites do with the API."""

import pytest
from django.test import Client

SHOP, OTHER = "https://shop.example", "https://other.example"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture
def opened(settings):
    settings.API_ALLOWED_ORIGINS = [SHOP]


def headers_for(origin: str, path: str = "/api/v1/store", method: str = "GET", **headers: str):
    response = Client(headers={"Origin": origin, **headers}).generic(method, path)
    return response.status_code, response.headers


@pytest.mark.parametrize("path", ["/api/v1/store", "/oauth/token", "/proofs/x/1.png", "/api/v1/nothing"])
def test_named_sites_read_answers_and_refusals(db, opened, path):
    status, headers = headers_for(SHOP, path)

    assert status >= 400
    assert headers["Access-Control-Allow-Origin"] == SHOP
    assert "X-Request-ID" in headers["Access-Control-Expose-Headers"]
    assert "Origin" in headers["Vary"]
    assert "Access-Control-Allow-Credentials" not in headers


def test_allowed_origins_receive_the_allowed_headers(db, opened):
    status, headers = headers_for(SHOP, "/api/v1/store/demo/order", "OPTIONS", **PREFLIGHT)

    assert status == 204
    assert "POST" in headers["Access-Control-Allow-Methods"]
    assert {"Authorization", "Ocp-Apim-Subscription-Key", "Idempotency-Key"} <= set(
        headers["Access-Control-Allow-Headers"].split(", ")
    )


@pytest.mark.parametrize("origin", [OTHER, "null", "https://shop.example:8443", "http://shop.example", ""])
@pytest.mark.parametrize("method", ["GET", "OPTIONS"])
def test_other_sites_get_nothing(db, opened, origin, method):
    status, headers = headers_for(origin, method=method, **PREFLIGHT)

    assert status == 401
    assert not [name for name in headers if name.startswith("Access-Control")]
    assert "Origin" in headers["Vary"]


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/api/v1/docs", "/oauth/authorize", "/admin/"])
def test_pages_are_for_no_other_site(db, opened, path):
    _, headers = headers_for(SHOP, path)

    assert not [name for name in headers if name.startswith("Access-Control")]


def test_no_site_is_named_unless_the_operator_does(db, settings):
    assert settings.API_ALLOWED_ORIGINS == []
    _, headers = headers_for(SHOP)

    assert "Access-Control-Allow-Origin" not in headers
