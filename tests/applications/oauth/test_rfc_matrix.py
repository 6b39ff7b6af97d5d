"""One line for each rule of the RFCs that a client can see: where it stands, what is done, what comes back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from accounts.models import User
from tests.factories.applications import ApplicationFactory
from tests.support.accounts.oauth_flows import CHALLENGE, Party, answer_of, basic, browser_of


@dataclass
class Scene:
    user: User
    party: Party
    public: Party

    def error(self, **changes: str | None) -> str:
        return answer_of(self.requested(**changes))["error"]

    def requested(self, **changes: str | None) -> Any:
        return self.party.ask(browser_of(self.user), **changes)

    def answered(self, **changes: str) -> Any:
        return self.party.consent(browser_of(self.user), **changes)

    def tokens(self) -> dict[str, Any]:
        return self.party.sign_in(self.user)

    def own_token(self) -> Any:
        return self.party.token(grant_type="client_credentials")

    def status(self, **form: Any) -> tuple[int, str | None]:
        response = self.party.token(**form)
        return response.status_code, response.json().get("error")


Rule = tuple[str, str, Callable[[Scene], Any], Any]


def redeemed(scene: Scene, **changes: Any) -> tuple[int, str | None]:
    response = scene.party.redeem(scene.party.code_for(scene.user), **changes)
    return response.status_code, response.json().get("error")


def replayed(scene: Scene) -> tuple[int, int]:
    code = scene.party.code_for(scene.user)
    tokens = scene.party.redeem(code).json()
    return scene.party.redeem(code).status_code, scene.party.refresh(tokens["refresh_token"]).status_code


def challenged(response: Any) -> tuple[int, str]:
    return response.status_code, response["WWW-Authenticate"].split()[0]


def refreshed_twice(scene: Scene) -> tuple[int, int]:
    token = scene.tokens()["refresh_token"]
    return scene.party.refresh(token).status_code, scene.party.refresh(token).status_code


def by_basic(scene: Scene, secret: str) -> Any:
    return scene.party.client.post(
        "/oauth/token",
        "grant_type=client_credentials",
        content_type="application/x-www-form-urlencoded",
        headers={"Authorization": basic(scene.party.application.client_id, secret)},
    )


RULES: list[Rule] = [
    ("RFC 6749 2.3.1", "Basic is understood", lambda s: by_basic(s, s.party.secret).status_code, 200),
    (
        "RFC 6749 3.1",
        "the authorization endpoint takes GET and POST",
        lambda s: (s.requested().status_code, s.answered().status_code),
        (200, 303),
    ),
    (
        "RFC 6749 3.1",
        "a parameter without a value counts as not sent",
        lambda s: s.error(response_type=""),
        "invalid_request",
    ),
    ("RFC 6749 3.1", "unknown parameters are ignored", lambda s: s.requested(color="blue").status_code, 200),
    (
        "RFC 6749 3.1.1",
        "an unknown response type is an error",
        lambda s: s.error(response_type="x"),
        "unsupported_response_type",
    ),
    (
        "RFC 6749 3.1.2.4",
        "no redirect to an address that is not registered",
        lambda s: s.requested(redirect_uri="https://x.example/").status_code,
        400,
    ),
    (
        "RFC 6749 3.2",
        "the token endpoint takes POST only",
        lambda s: s.party.client.get("/oauth/token").status_code,
        405,
    ),
    (
        "RFC 6749 3.2",
        "no parameter twice",
        lambda s: s.status(grant_type=["client_credentials"] * 2),
        (400, "invalid_request"),
    ),
    ("RFC 6749 3.3", "an unknown scope is invalid", lambda s: s.error(scope="x"), "invalid_scope"),
    ("RFC 6749 3.3", "the granted scope is returned", lambda s: s.tokens()["scope"] != "", True),
    ("RFC 6749 4.1.2", "a code is used once, its reuse ends the tokens", replayed, (400, 400)),
    (
        "RFC 6749 4.1.2",
        "state comes back exactly",
        lambda s: s.party.consent_of(s.user, state=" a+b%20&=")["state"],
        " a+b%20&=",
    ),
    (
        "RFC 6749 4.1.2.1",
        "a denial is access_denied",
        lambda s: answer_of(s.answered(allow=""))["error"],
        "access_denied",
    ),
    (
        "RFC 6749 4.1.3",
        "the redirect URI must be repeated",
        lambda s: redeemed(s, redirect_uri=None),
        (400, "invalid_grant"),
    ),
    (
        "RFC 6749 4.2",
        "the implicit grant is off",
        lambda s: s.error(response_type="token"),
        "unauthorized_client",
    ),
    (
        "RFC 6749 4.3",
        "the password grant is not there",
        lambda s: s.status(grant_type="password", username="a", password="b"),
        (400, "unsupported_grant_type"),
    ),
    (
        "RFC 6749 4.4",
        "client credentials are for confidential clients",
        lambda s: s.public.token(grant_type="client_credentials").status_code,
        401,
    ),
    (
        "RFC 6749 4.4.3",
        "client credentials give no refresh token",
        lambda s: "refresh_token" in s.own_token().json(),
        False,
    ),
    ("RFC 6749 5.1", "answers are not stored", lambda s: s.own_token()["Cache-Control"], "no-store"),
    ("RFC 6749 5.1", "answers are JSON", lambda s: s.own_token()["Content-Type"], "application/json"),
    (
        "RFC 6749 5.2",
        "invalid_client is 401 with the scheme that was used",
        lambda s: challenged(by_basic(s, "x")),
        (401, "Basic"),
    ),
    (
        "RFC 6749 5.2",
        "errors are not stored",
        lambda s: s.party.token(grant_type="x")["Cache-Control"],
        "no-store",
    ),
    (
        "RFC 6749 5.2",
        "a missing grant type is invalid_request",
        lambda s: s.status(),
        (400, "invalid_request"),
    ),
    (
        "RFC 6749 6",
        "a refresh cannot widen the scope",
        lambda s: s.status(
            grant_type="refresh_token", refresh_token=s.tokens()["refresh_token"], scope="Store.All.Read"
        ),
        (400, "invalid_scope"),
    ),
    (
        "RFC 6749 6",
        "a refresh token is for its own client",
        lambda s: s.public.refresh(s.tokens()["refresh_token"]).status_code,
        400,
    ),
    ("RFC 7009 2.1", "a missing token is invalid_request", lambda s: s.party.revoke("").status_code, 400),
    ("RFC 7009 2.2", "an unknown token is 200", lambda s: s.party.revoke("x").status_code, 200),
    (
        "RFC 7009 2.2",
        "an unknown hint is ignored",
        lambda s: s.party.revoke("x", token_type_hint="y").status_code,
        200,
    ),
    (
        "RFC 7636 4.3",
        "plain, also by silence, is refused",
        lambda s: (s.error(code_challenge_method="plain"), s.error(code_challenge_method=None)),
        ("invalid_request",) * 2,
    ),
    (
        "RFC 7636 4.4.1",
        "no challenge is invalid_request",
        lambda s: s.error(code_challenge=None),
        "invalid_request",
    ),
    (
        "RFC 7636 4.6",
        "a wrong verifier is invalid_grant",
        lambda s: redeemed(s, code_verifier="w" * 43),
        (400, "invalid_grant"),
    ),
    (
        "RFC 7636 4.6",
        "the challenge itself is no verifier",
        lambda s: redeemed(s, code_verifier=CHALLENGE),
        (400, "invalid_grant"),
    ),
    (
        "RFC 8252 7.3",
        "a loopback address may choose its port",
        lambda s: s.public.ask(browser_of(s.user), redirect_uri="http://127.0.0.1:5/cb").status_code,
        200,
    ),
    (
        "RFC 8707 2",
        "a foreign resource is invalid_target",
        lambda s: s.error(resource="https://x.example"),
        "invalid_target",
    ),
    (
        "RFC 8707 2.2",
        "also at the token endpoint",
        lambda s: s.status(grant_type="client_credentials", resource="https://x.example"),
        (400, "invalid_target"),
    ),
    (
        "RFC 9207 2",
        "every answer names the issuer",
        lambda s: (s.party.consent_of(s.user)["iss"], answer_of(s.requested(scope="x"))["iss"]),
        ("http://127.0.0.1:8000",) * 2,
    ),
    (
        "RFC 9700 2.1",
        "the redirect URI is compared exactly",
        lambda s: s.requested(redirect_uri="https://client.example/callback/").status_code,
        400,
    ),
    (
        "RFC 9700 2.1.1",
        "PKCE is for confidential clients too",
        lambda s: s.error(code_challenge=None, code_challenge_method=None),
        "invalid_request",
    ),
    (
        "RFC 9700 4.11.2",
        "no redirect by an error before the sign-in",
        lambda s: urlsplit(s.party.ask(browser_of(), scope="x")["Location"]).path,
        "/accounts/login/",
    ),
    (
        "RFC 9700 4.12",
        "after the form the browser is sent on by 303",
        lambda s: s.answered().status_code,
        303,
    ),
    ("RFC 9700 4.14.2", "a refresh token is used once", refreshed_twice, (200, 400)),
    (
        "RFC 9700 4.16",
        "the consent page cannot be framed",
        lambda s: "frame-ancestors 'none'" in s.requested()["Content-Security-Policy"],
        True,
    ),
]


@pytest.mark.parametrize(
    ("done", "expected"), [rule[2:] for rule in RULES], ids=[f"{rule[0]}: {rule[1]}" for rule in RULES]
)
def test_rule_of_the_rfcs_holds(user, confidential, done, expected):
    native = ApplicationFactory(reply_urls=("http://127.0.0.1:9099/cb",))
    assert done(Scene(user, confidential, Party(native))) == expected
