"""How a client proves itself at the token endpoint, and what happens to everything malformed."""

import base64
from urllib.parse import quote

import pytest
from django.db import OperationalError, connection
from django.test import Client

from applications.oauth.credentials import ClientCredentials, decode_basic
from fulfillment.core.db import prepared
from tests.factories.applications import ApplicationFactory, ApplicationKeyFactory
from tests.support.accounts.oauth_flows import basic

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def application(db):
    return ApplicationFactory(client_id="shop", confidential=True)


def ask(body: str, header: str | None = None, content_type: str = FORM, path: str = "/oauth/token"):
    headers = {} if header is None else {"Authorization": header}
    return Client(raise_request_exception=False).post(path, body, content_type=content_type, headers=headers)


def test_public_client_has_no_client_credentials(public):
    response = public.token(grant_type="client_credentials")
    assert response.status_code == 401
    assert response.json()["error"] == "invalid_client"


def test_confidential_client_cannot_leave_its_key_out(confidential, user):
    code = confidential.code_for(user)
    confidential.secret = ""
    response = confidential.redeem(code)
    assert response.status_code == 401
    assert response["WWW-Authenticate"].startswith("Basic ")


def test_public_client_may_name_itself_by_basic_without_a_secret(public, user):
    code = public.code_for(user)
    response = ask(
        f"grant_type=authorization_code&code={code}&code_verifier={'v' * 43}"
        f"&redirect_uri={quote(public.application.reply_urls[0], safe='')}",
        basic(public.application.client_id, ""),
    )
    assert response.status_code == 200


def test_form_carries_credentials_too(application):
    response = ask(f"grant_type=client_credentials&client_id=shop&client_secret={application.known_key}")
    assert response.status_code == 200


def test_two_methods_at_once_are_an_invalid_request(application):
    body = f"grant_type=client_credentials&client_secret={application.known_key}"
    response = ask(body, basic("shop", application.known_key))
    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


def test_both_halves_of_basic_are_form_encoded(db):
    key = ApplicationKeyFactory(application__client_id="a.b~c", value="with + and % and :")
    response = ask("grant_type=client_credentials", basic("a%2Eb~c", quote(key.known_value, safe="")))
    assert response.status_code == 200


def encoded(text: str | bytes) -> str:
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


HEADERS = {
    "lower case": ("basic {good}", 200),
    "upper case": ("BASIC {good}", 200),
    "two spaces": ("Basic  {good}", 200),
    "no space": ("Basic{good}", 401),
    "tab": ("Basic\t{good}", 401),
    "leading space": (" Basic {good}", 401),
    "text after": ("Basic {good} x", 401),
    "comma": ("Basic {good}, Basic {good}", 401),
    "nothing": ("", 401),
    "scheme alone": ("Basic", 401),
    "scheme and space": ("Basic ", 401),
    "bearer": ("Bearer {good}", 401),
    "digest": ('Digest username="shop"', 401),
    "not base64": ("Basic ????", 401),
    "base64 of the address alphabet": ("Basic " + encoded(b"shop:\xfb\xff").replace("+", "-"), 401),
    "broken padding": ("Basic {good}=", 401),
    "line feed inside": ("Basic {good}\n", 401),
    "no colon": ("Basic " + encoded("shop"), 401),
    "colon alone": ("Basic " + encoded(":"), 401),
    "empty id": ("Basic " + encoded(":secret"), 401),
    "empty secret": ("Basic " + encoded("shop:"), 401),
    "wrong secret": ("Basic " + encoded("shop:wrong"), 401),
    "unknown id": ("Basic " + encoded("nobody:wrong"), 401),
    "not utf-8": ("Basic " + encoded(b"shop:\xff\xfe"), 401),
    "NUL in the id": ("Basic " + encoded("sh\0op:x"), 401),
    "NUL in the secret": ("Basic " + encoded("shop:x\0"), 401),
    "encoded NUL in the id": ("Basic " + encoded("shop%00:x"), 401),
    "snowman": ("Basic " + encoded("\u2603:\u2603"), 401),
    "lone surrogate": ("Basic " + encoded("shop:%ED%A0%80"), 401),
    "very long": ("Basic " + encoded("shop:" + "x" * 20_000), 431),
    "long id": ("Basic " + encoded("x" * 20_000 + ":x"), 431),
    "id with a slash": ("Basic " + encoded("https://shop/:x"), 401),
    "secret then NUL": ("Basic {good_nul}", 401),
    "secret then space": ("Basic {good_space}", 401),
}


@pytest.mark.parametrize("secret", ["x", "xx", "xxx"])
def test_padding_is_that_of_the_length_and_no_other(secret):
    good = encoded(f"shop:{secret}")

    assert decode_basic(f"Basic {good}") == ClientCredentials("shop", secret)
    assert decode_basic(f"Basic {good}=") is None
    assert good.endswith("=") is (decode_basic(f"Basic {good.rstrip('=')}") is None)


@pytest.mark.parametrize("name", HEADERS)
@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_malformed_header_is_never_a_fault_of_the_server(application, name, path):
    header, status = HEADERS[name]
    header = header.replace("{good}", encoded(f"shop:{application.known_key}"))
    header = header.replace("{good_nul}", encoded(f"shop:{application.known_key}\0"))
    header = header.replace("{good_space}", encoded(f"shop:{application.known_key} "))
    body = "grant_type=client_credentials" if path == "/oauth/token" else "token=unknown"
    response = ask(body, header, path=path)
    assert response.status_code == status
    if status == 401:
        assert response.json()["error"] == "invalid_client"
        assert response["WWW-Authenticate"].startswith("Basic realm=")


BODIES = {
    "empty": ("", 400, "invalid_request"),
    "no grant type": ("client_id=shop", 400, "invalid_request"),
    "blank grant type": ("grant_type=", 400, "invalid_request"),
    "unknown grant type": ("grant_type=teleport", 400, "unsupported_grant_type"),
    "password": ("grant_type=password&username=a&password=b", 400, "unsupported_grant_type"),
    "device": (
        "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=x",
        400,
        "unsupported_grant_type",
    ),
    "assertion": (
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer",
        400,
        "unsupported_grant_type",
    ),
    "grant type with NUL": ("grant_type=client_credentials%00", 400, "invalid_request"),
    "scope with NUL": ("grant_type=client_credentials&scope=%00", 400, "invalid_request"),
    "code with NUL": ("grant_type=authorization_code&code=%00", 400, "invalid_request"),
    "refresh token with NUL": ("grant_type=refresh_token&refresh_token=%00", 400, "invalid_request"),
    "grant type twice": (
        "grant_type=client_credentials&grant_type=client_credentials",
        400,
        "invalid_request",
    ),
    "scope twice": (
        "grant_type=client_credentials&scope=Store.Self.Read&scope=Order.Self.Read",
        400,
        "invalid_request",
    ),
    "unknown scope": ("grant_type=client_credentials&scope=everything", 400, "invalid_scope"),
    "operator scope": ("grant_type=client_credentials&scope=Operator", 400, "invalid_scope"),
    "introspection scope": ("grant_type=client_credentials&scope=introspection", 400, "invalid_scope"),
    "scope in other case": ("grant_type=client_credentials&scope=store.self.read", 400, "invalid_scope"),
    "foreign resource": (
        "grant_type=client_credentials&resource=https%3A%2F%2Felsewhere.example",
        400,
        "invalid_target",
    ),
    "resource that is no address": ("grant_type=client_credentials&resource=x", 400, "invalid_target"),
    "another client id": ("grant_type=client_credentials&client_id=other", 400, "invalid_request"),
    "no code": ("grant_type=authorization_code", 400, "invalid_request"),
    "no refresh token": ("grant_type=refresh_token", 400, "invalid_request"),
    "bad percent": ("grant_type=%GG", 400, "unsupported_grant_type"),
    "bad utf-8": ("grant_type=%FF%FE", 400, "unsupported_grant_type"),
    "separators": ("&&&===", 400, "invalid_request"),
    "json": ('{"grant_type": "client_credentials"}', 400, "invalid_request"),
    "many fields": ("&".join(f"a{n}=1" for n in range(3000)), 400, "invalid_request"),
    "large": ("grant_type=client_credentials&x=" + "x" * 1_100_000, 413, "invalid_request"),
    "names of the library's own": (
        "grant_type=client_credentials&client=x&user=x&scopes=x&extra_credentials=x&grant=x&spent=x",
        200,
        None,
    ),
    "response type": ("grant_type=client_credentials&response_type=token", 200, None),
    "unknown name": ("grant_type=client_credentials&color=blue", 200, None),
    "blank scope": ("grant_type=client_credentials&scope=", 200, None),
    "the api as resource": (
        "grant_type=client_credentials&resource=http%3A%2F%2F127.0.0.1%3A8000%2Fapi%2Fv1",
        200,
        None,
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_body_is_answered_by_the_rules(application, name):
    body, status, error = BODIES[name]
    response = ask(body, basic("shop", application.known_key))
    assert (response.status_code, response.json().get("error")) == (status, error)
    assert response["Cache-Control"] == "no-store"
    if status == 200:
        assert response.json()["expires_in"] == 3600


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "multipart/form-data; boundary=x", "text/plain", f"{FORM}; charset=latin-1", ""],
)
def test_other_media_types_are_an_invalid_request(application, content_type):
    response = ask("grant_type=client_credentials", basic("shop", application.known_key), content_type)
    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_parameters_in_the_address_are_an_invalid_request(application, path):
    response = ask(
        "grant_type=client_credentials", basic("shop", application.known_key), path=f"{path}?a=%GG"
    )
    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
@pytest.mark.parametrize("method", ["get", "put", "delete", "head", "options", "patch"])
def test_other_methods_are_refused(client, path, method):
    response = getattr(client, method)(path)
    assert (response.status_code, response["Allow"]) == (405, "POST")


@pytest.mark.parametrize("origin", ["https://client.example", "http://127.0.0.1:8000", "null"])
def test_token_endpoint_is_closed_to_other_origins(confidential, origin):
    browser = Client(headers={"Origin": origin})
    response = confidential.token(browser, grant_type="client_credentials")
    assert response.status_code == 200
    assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_database_that_is_away_is_no_fault_of_the_client(application, monkeypatch, path):
    def fail(*args, **kwargs):
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(prepared, "fetch_rows", fail)
    body = "grant_type=client_credentials&token=x"
    with connection.execute_wrapper(fail):
        response = ask(body, basic("shop", application.known_key), path=path)
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert response.json()["error"] == "temporarily_unavailable"
